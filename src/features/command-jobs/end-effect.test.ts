import { expect, it } from 'vitest'
import { onceEffect } from './end-effect.js'

it.each(['done', 'failed', 'cancelled'] as const)(
  'N6: the end of a one-shot records that it was executed, also when it is %s',
  (state) => {
    const ended = { id: 'run', job: 'work', trigger: 'o', partition: undefined, dueAt: 1, startedAt: 1 }
    const run = { ...ended, state, at: 2, error: undefined, reason: undefined }
    expect(onceEffect.changes?.(run, [])).toEqual([
      { kind: 'executed', name: 'o', item: '', value: { at: 2, run: 'run', state } },
    ])
  },
)
