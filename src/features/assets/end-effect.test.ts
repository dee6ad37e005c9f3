import { expect, it } from 'vitest'
import type { EndedRun } from '../../kernel/run/end-effect.js'
import { assetEffect } from './end-effect.js'

const t0 = 1_767_571_200_000
const run: EndedRun = {
  id: 'two',
  job: 'work',
  trigger: undefined,
  partition: 'p',
  dueAt: t0,
  state: 'done',
  startedAt: t0 + 2,
  at: t0 + 3,
  error: undefined,
  reason: undefined,
}
const key = { kind: 'partition', name: 'work', item: 'p' }
const done = { state: 'done', run: 'two', at: t0 + 3, doneAt: t0 + 3, doneRun: 'two', readAt: t0 + 2 }

it('the end of a run of an asset writes the state of its partition', () => {
  expect(assetEffect.reads?.(run)).toEqual([key])
  expect(assetEffect.changes?.(run, [undefined])).toEqual([{ ...key, value: done }])
})

it('a failure keeps the time at which the partition was last done, if there is one', () => {
  const failed: EndedRun = { ...run, id: 'three', state: 'failed', at: t0 + 9 }
  const ended = { state: 'failed', run: 'three', at: t0 + 9 }
  expect(assetEffect.changes?.(failed, [done])).toEqual([{ ...key, value: { ...done, ...ended } }])
  const never = { doneAt: null, doneRun: null, readAt: null }
  expect(assetEffect.changes?.(failed, [undefined])).toEqual([{ ...key, value: { ...ended, ...never } }])
})

it('a cancelled run changes nothing', () => {
  expect(assetEffect.changes?.({ ...run, state: 'cancelled' }, [done])).toEqual([])
})

it('only a run that is done creates an arrival for downstream assets', () => {
  const value = { asset: 'work', partition: 'p', run: 'two', at: t0 + 3 }
  expect(assetEffect.arrival?.(run)).toEqual({ kind: 'arrival', item: '["work","p"]', value })
  expect(assetEffect.arrival?.({ ...run, state: 'failed' })).toBeUndefined()
})
