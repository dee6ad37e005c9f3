import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Trigger } from '../../../../src/client/operations.js'
import type { ClockChange } from '../../../../src/client/ui-operations.js'
import { exactTime } from '../../data/format.js'
import { useNow } from '../../data/now.js'
import { nextQuery } from '../../data/triggers.js'
import { useZone } from '../../data/zone.js'
import { Panel } from '../../parts/panel.js'
import { StateMark } from '../../parts/state-mark.js'
import { Time } from '../../parts/time.js'
import { zoneOf } from '../../parts/why/schedule-line.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { words } from '../../words/trigger.js'
import styles from './page.module.css'
import { clockChanges, useCronPreview } from './schedule.js'

/** When the trigger is due next, and what changes of the clocks will do to it. */
export function Next({ trigger }: { trigger: Trigger }): ReactNode {
  const { name, state, nextAt } = trigger
  const { data } = useQuery({ ...nextQuery(name, 8), enabled: state !== 'ended' })
  const changes = clockChanges(useCronPreview(trigger))
  // The store has the next due time of the trigger; later ones are computed.
  const first = nextAt === null ? [] : [nextAt]
  const zone = useZone(zoneOf(trigger))
  const now = useNow()
  const offsetOf = (at: string | undefined): string =>
    at === undefined ? '' : exactTime(Date.parse(at), zone, { now }).offset
  const instants = [...new Set([...first, ...(data?.items ?? []).map(({ at }) => at)])].slice(0, 8)
  return (
    <Panel title={words.next.title} padded>
      {instants.length === 0 ? (
        <p className="soft">{words.next.none[trigger.schedule.kind] ?? words.next.noneAny}</p>
      ) : (
        <ol className={styles['next']} data-held={state !== 'on'}>
          {instants.map((at, index) => (
            <li key={at}>
              <WhyButton trigger={name} from={at}>
                <StateMark mark={state === 'on' ? 'due' : 'paused'} label={false} />
                <Time
                  at={at}
                  // It is said once, and where a change of the clocks makes it another one.
                  withOffset={offsetOf(at) !== offsetOf(instants[index - 1])}
                  relative={index === 0}
                />
              </WhyButton>
            </li>
          ))}
        </ol>
      )}
      {changes.slice(0, 4).map((change) => (
        <p key={`${change.changeAt} ${change.firstLocal}`} className={styles['warning']}>
          <span aria-hidden="true">⚠</span> <ChangeText change={change} />
        </p>
      ))}
    </Panel>
  )
}

/** What a change of the clocks does, as a sentence. */
export function ChangeText({ change }: { change: ClockChange }): ReactNode {
  return (
    <>
      {words.clockChange(change)} <Time at={change.changeAt} withOffset />
    </>
  )
}
