import { expect, it } from 'vitest'
import type { Json } from '../../kernel/definition/json.js'
import type { EndedRun } from '../../kernel/run/end-effect.js'
import { serviceEffect } from './end-effect.js'

const t0 = 1_767_571_200_000
const run: EndedRun = {
  id: 'run',
  job: 'work',
  trigger: 'round',
  partition: undefined,
  dueAt: t0,
  state: 'done',
  startedAt: t0 + 1,
  at: t0 + 7,
  error: undefined,
  reason: undefined,
}
const failed: EndedRun = { ...run, state: 'failed', error: { code: 'HANDLER_FAILED', message: 'no' } }
const timing = { lastRunAt: t0 - 5, everyMs: 5, inFlight: { run: 'run', round: 'round' } }
const current = { service: 'work', run: 'run' }
const cycle = { checkedAt: t0, queue: ['next'], current, results: [], skipped: [], resumed: false }
const [timed, open] = [
  { kind: 'service', name: 'work', item: '' },
  { kind: 'cycle', name: 'round', item: '' },
]

it('the end of a service writes its timing and its cycle, and wakes its round', () => {
  expect(serviceEffect.reads?.(run)).toEqual([timed, open])
  const results = [{ service: 'work', status: 'ok', info: 'success' }]
  expect(changes(run, timing, cycle)).toEqual([
    { ...timed, value: { ...timing, lastRunAt: t0, inFlight: null } },
    { ...open, value: { ...cycle, current: null, results } },
  ])
  expect(serviceEffect.wakesTrigger).toBe(true)
})

it('R9: the end of the last service removes its cycle and keeps the results', () => {
  const results = [{ service: 'work', status: 'error', info: 'no' }]
  expect(changes(failed, undefined, { ...cycle, queue: [] })).toEqual([
    { ...open, value: undefined },
    { ...open, kind: 'check', value: { checkedAt: t0, results, skipped: [], resumed: false } },
  ])
})

it('R11: a failed service keeps the time of its last success and is no longer in flight', () => {
  expect(changes(failed, timing, undefined)).toEqual([{ ...timed, value: { ...timing, inFlight: null } }])
})

it('a run that is not the current one of the cycle does not change the cycle', () => {
  expect(changes({ ...run, id: 'other' }, undefined, cycle)).toEqual([])
})

function changes(ended: EndedRun, ...values: (Json | undefined)[]): unknown {
  return serviceEffect.changes?.(ended, values)
}
