import { describe, expect, it } from 'vitest'
import { serveApp, testApp } from '../../../test/fixtures/api-stage.js'

/** A served app on a real store. */
async function stage(options: Parameters<typeof serveApp>[1] = {}) {
  return await serveApp(testApp(), options)
}

describe('tokens and sessions', () => {
  it('a session lasts until its token is revoked', async () => {
    const { ask, token } = await stage({ isLoopback: false })
    const admin = await token('admin')
    const own = { 'sec-fetch-site': 'same-origin' }
    const login = await ask('POST', '/api/v1/session', { body: { token: await token('read') }, headers: own })
    expect(login).toMatchObject({ status: 200, body: { actor: 'read', role: 'read' } })
    const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';')
    const proxied = await ask('POST', '/api/v1/session', {
      body: { token: await token('operate') },
      headers: { ...own, 'x-forwarded-proto': 'https' },
    })
    expect(proxied.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
    expect(login.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/)
    const headers = { ...own, cookie }
    const session = await ask('GET', '/api/v1/session', { headers })
    expect(session.body).toMatchObject({ actor: 'read', role: 'read', mounted: false, signedIn: true })
    const { items } = (await ask('GET', '/api/v1/tokens', { token: admin })).body
    const id = items.find(({ name }) => name === 'read')?.id ?? ''
    const revoke = (body: object) => ask('DELETE', `/api/v1/tokens/${id}`, { token: admin, body })
    expect((await revoke({ dryRun: true })).status).toBe(200)
    expect((await ask('GET', '/api/v1/session', { headers })).status).toBe(200)
    expect((await revoke({})).status).toBe(200)
    expect((await ask('GET', '/api/v1/session', { headers })).status).toBe(401)
  })

  it.each(['local', 'nobody'])('a token cannot be named %s, as callers without one are', async (name) => {
    const { ask } = await stage()
    const refused = await ask('POST', '/api/v1/tokens', { body: { name, role: 'read' } })
    expect(refused).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } })
    expect((await ask('GET', '/api/v1/session')).body).toMatchObject({ actor: 'local' })
  })

  it('five wrong tokens from an address block it for a minute', async () => {
    const { ask } = await stage({ isLoopback: false })
    const login = () => ask('POST', '/api/v1/session', { body: { token: 'wrong' } })
    for (let i = 0; i < 5; i++) expect((await login()).status).toBe(401)
    const refused = await login()
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_REQUESTS' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('the rate of requests', () => {
  it('a caller that sends too many requests waits; others do not, and health is always answered', async () => {
    const { ask, token } = await stage({ isLoopback: false, requestsPerSecond: 2 })
    const [one, other] = [await token('read'), await token('operate')]
    const read = (given: string) => ask('GET', '/api/v1/pulse', { token: given })
    const first = await Promise.all([read(one), read(one), read(one), read(one), read(one), read(one)])
    const refused = first.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      detail: 'too many requests of one caller; the limit is 2 per second',
    })
    expect(refused?.headers.get('retry-after')).toMatch(/^[12]$/)
    expect(first[0]?.status).toBe(200)
    expect((await read(other)).status).toBe(200)
    expect((await ask('GET', '/health/live')).status).toBe(200)
  })

  it.each(['/api/v1/pulse', '/metrics', '/hooks/inbox', '/nowhere.js'])(
    'requests for %s without a token are counted by address',
    async (path) => {
      const { ask } = await stage({ isLoopback: false, requestsPerSecond: 1 })
      const answers = await Promise.all(Array.from({ length: 9 }, () => ask('GET', path)))
      expect(answers.map(({ status }) => status)).toContain(429)
    },
  )
})
