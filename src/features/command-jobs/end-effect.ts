import type { EndEffect } from '../../kernel/run/end-effect.js'

/** The end of a one-shot records that it was executed, for as long as the job exists. */
export const onceEffect: EndEffect = {
  name: 'once',
  code: 4,
  changes: ({ id, trigger = '', state, at }) => [
    { kind: 'executed', name: trigger, item: '', value: { at, run: id, state } },
  ],
}
