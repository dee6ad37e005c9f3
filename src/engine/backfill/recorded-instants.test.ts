import { expect, it } from 'vitest'
import { randomRunId } from '../../kernel/identity/identity.js'
import type { NewRun } from '../../kernel/run/run.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { readRecordedInstants } from './recorded-instants.js'

const t0 = Date.UTC(2026, 0, 5)
const minute = 60_000

it('knows every run of a trigger, however many there are', async () => {
  const store = openMemoryStore()
  const count = 20_100
  const runs = Array.from({ length: count }, (_, i): NewRun => {
    const at = t0 + i * minute
    const about = { job: 'work', origin: 'trigger', trigger: 't', version: 1 } as const
    return { id: randomRunId(at), ...about, dueAt: at, runAt: at, priority: 0, payload: null, slots: [] }
  })
  await store.enqueue({ runs, now: t0 })
  const untilAt = t0 + count * minute
  const recorded = await readRecordedInstants(store, { trigger: 't', fromAt: t0, untilAt })
  expect(runs.filter(({ dueAt }) => recorded.stateAt(dueAt) !== 'pending')).toEqual([])
  expect(recorded.stateAt(untilAt)).toBe('missing')
})
