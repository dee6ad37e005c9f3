import { describe, expect, it } from 'vitest'
import { serveApp, testApp } from '../../../test/fixtures/api-stage.js'

/** A served app with two of everything that a list shows. */
async function stage() {
  const parts = testApp()
  const { app } = parts
  for (const name of ['greet', 'spare']) app.job(name, () => 'hello')
  app.schedule('nightly', { job: 'greet', cron: '0 2 * * *', timezone: 'Europe/Berlin' })
  app.schedule('hourly', { job: 'spare', every: '1h' })
  await app.start()
  const served = await serveApp(parts)
  for (const role of ['read', 'operate'] as const) await served.token(role)
  return { app, ...served }
}

describe('lists', () => {
  it('have pages that together are the list', async () => {
    const { ask, app } = await stage()
    for (const name of ['nightly', 'hourly']) await app.triggers.pause(name)
    const read = async (path: string, query: string) =>
      (await ask('GET', `/api/v1${path}?${query}`)).body as unknown as {
        items: object[]
        next: string | null
        total: object
      }
    const counts: Record<string, number> = {}
    for (const path of ['/jobs', '/queues', '/holds', '/workers', '/tokens']) {
      const { items, next, total } = await read(path, 'limit=500')
      expect([next, total]).toEqual([null, { count: items.length, capped: false }])
      const seen: object[] = []
      for (let after = ''; ; ) {
        const page = await read(path, `limit=1${after}`)
        expect(page.items.length).toBeLessThanOrEqual(1)
        seen.push(...page.items)
        if (page.next === null) break
        after = `&after=${encodeURIComponent(page.next)}`
      }
      expect(seen).toEqual(items)
      counts[path] = items.length
    }
    expect(counts).toMatchObject({ '/jobs': 2, '/holds': 2, '/tokens': 2 })
  })

  it('holds can be read by target', async () => {
    const { ask, app } = await stage()
    await app.triggers.pause('nightly', { reason: 'a holiday' })
    await app.triggers.pause('hourly')
    const { body } = await ask('GET', '/api/v1/holds?target=trigger:nightly')
    expect(body.items).toMatchObject([{ target: 'trigger:nightly', note: 'a holiday' }])
    const refused = await ask('GET', '/api/v1/holds?target=nightly')
    expect(refused).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } })
  })
})
