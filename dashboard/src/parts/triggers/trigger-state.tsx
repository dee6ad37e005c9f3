import type { ReactNode } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import type { Mark } from '../../design/marks.js'
import { triggerStateWords } from '../../words/trigger-changes.js'
import { StateMark } from '../state-mark.js'

const looks: Readonly<Record<Trigger['state'], Mark>> = {
  on: 'on',
  paused: 'paused',
  frozen: 'frozen',
  'switched off': 'switch',
  disabled: 'switch',
  over: 'pruned',
  ended: 'cancelled',
}

/** The state of a trigger: its mark and its word. */
export function TriggerState({
  state,
  isShort = false,
}: {
  state: Trigger['state']
  /** Whether only the mark is shown. */
  isShort?: boolean
}): ReactNode {
  const word = triggerStateWords[state]
  if (!isShort) return <StateMark mark={looks[state]} label={word} />
  return (
    <span title={word}>
      <StateMark mark={looks[state]} label={false} />
    </span>
  )
}
