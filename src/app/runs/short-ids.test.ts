import { describe, expect, it } from 'vitest'
import { runIdLength } from '../../kernel/identity/identity.js'
import type { NewRun } from '../../kernel/run/run.js'
import { rota } from '../rota.js'
import { shortIds, shownIdLength } from './short-ids.js'

async function withRuns(ids: readonly string[]) {
  const app = rota({ store: 'memory:' })
  const store = await app.store()
  const run: Omit<NewRun, 'id'> = { job: 'j', origin: 'enqueue', dueAt: 1, runAt: 1, priority: 0, slots: [] }
  await store.enqueue({ runs: ids.map((id) => ({ ...run, id })), now: 1 })
  return { app, store }
}

const idOf = (start: string): string => start.padEnd(runIdLength, '0')

describe('the ids that tables show', () => {
  it('are as short as possible, and never shorter than what stays unique', async () => {
    const lone = idOf('01aaaaaaaa')
    const twins = [idOf('01bbbbbbbbcccccccc1'), idOf('01bbbbbbbbcccccccc2')]
    const last = [`${'01c'.padEnd(runIdLength - 1, '0')}x`, `${'01c'.padEnd(runIdLength - 1, '0')}y`]
    const { store } = await withRuns([lone, ...twins, ...last])
    const found = await shortIds(store, [lone, twins[0] ?? '', ...last])
    expect([...found.values()]).toEqual([
      lone.slice(0, shownIdLength),
      twins[0]?.slice(0, 19),
      last[0],
      last[1],
    ])
  })

  it('still identify the same run, however many were recorded in one millisecond', async () => {
    const { app, store } = await withRuns([])
    await app.jobs.add({ j: { command: ['true'] } })
    const made = await app.enqueueMany(
      'j',
      Array.from({ length: 300 }, () => null),
    )
    const found = await shortIds(
      store,
      made.map(({ id }) => id),
    )
    for (const [id, text] of found) expect((await app.runs.get(text)).id).toBe(id)
    expect([...found.values()].every((text) => text.length === shownIdLength)).toBe(true)
  })

  it('that are ambiguous are refused with the runs that match', async () => {
    const [one, other] = [idOf('01aaaaaaaa1'), idOf('01aaaaaaaa2')]
    const { app } = await withRuns([one, other])
    await expect(app.runs.get('01aaaaaaaa')).rejects.toThrow(
      `more than one run has an id that begins with 01aaaaaaaa: ${one} (j), ${other} (j)`,
    )
  })
})
