import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Round, Service } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { useMay } from '../../data/session.js'
import { triggerHref } from '../../data/triggers.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/panel.js'
import { StateMark } from '../../parts/state-mark.js'
import { Time } from '../../parts/time.js'
import { Held } from '../../parts/triggers/held-line.js'
import { PauseDialog } from '../../parts/triggers/pause-dialog.js'
import { ResumeDialog } from '../../parts/triggers/resume-dialog.js'
import { words } from '../../words/rounds.js'
import styles from './page.module.css'
import { ServicesTable } from './services-table.js'
import { StartDialog, StopDialog } from './start-stop.js'

/** One round: the progress of its cycle, and its services. */
export function RoundPanel({ round, services }: { round: Round; services: readonly Service[] }): ReactNode {
  const { name, state, intervalMs, checkedAt, nextCheckAt, resumed } = round
  const isOpen = round.cycle !== null
  return (
    <Panel title={<Link href={triggerHref(name)}>{name}</Link>} aside={<RoundActions round={round} />}>
      <div className={styles['cycle']}>
        <p className={styles['line']}>
          <StateMark mark={looks[state]} label={words.states[state]} />
          <span>{words.every(formatDuration(intervalMs))}</span>
          <span className="soft">
            {checkedAt === null ? (
              words.neverChecked
            ) : (
              <>
                {isOpen ? words.openSince : words.lastCheck} <Time at={checkedAt} />
              </>
            )}
          </span>
          {nextCheckAt === null || state !== 'on' ? null : (
            <span className="soft">
              {words.nextCheck} <Time at={nextCheckAt} />
            </span>
          )}
          {resumed ? <StateMark mark="late" label={words.resumed} /> : null}
        </p>
        <Held name={name} state={state} />
        {checkedAt === null ? null : <Progress round={round} />}
      </div>
      <ServicesTable round={round} services={services} />
    </Panel>
  )
}

const looks = {
  on: 'on',
  paused: 'paused',
  frozen: 'frozen',
  'switched off': 'switch',
  disabled: 'switch',
  over: 'pruned',
  stopped: 'cancelled',
} as const

/** How many of the services that were due in the cycle have ended. */
function Progress({ round }: { round: Round }): ReactNode {
  const { completedCount, remainingServices, currentService } = round
  const left = remainingServices.length + (currentService === null ? 0 : 1)
  const all = completedCount + left
  return (
    <div className={styles['progress']}>
      <progress aria-label={words.progressOf(round.name)} max={Math.max(1, all)} value={completedCount} />
      <span>{words.progress(completedCount, all)}</span>
    </div>
  )
}

type Asking = 'start' | 'stop' | 'pause' | 'resume'

function RoundActions({ round }: { round: Round }): ReactNode {
  const { name, state, source } = round
  const { why } = useMay('operate')
  const { why: whyAdmin } = useMay('admin')
  const [asking, setAsking] = useState<Asking>()
  const close = (): void => setAsking(undefined)
  const isStopped = state === 'stopped'
  const owned = /^(config|code):/.test(source) ? words.owned(source) : undefined
  return (
    <>
      {isStopped ? (
        <Button why={whyAdmin ?? owned} onClick={() => setAsking('start')}>
          {words.actions.start}
        </Button>
      ) : (
        <>
          <Button why={why} onClick={() => setAsking(state === 'paused' ? 'resume' : 'pause')}>
            {state === 'paused' ? words.actions.resume : words.actions.pause}
          </Button>
          <Button why={whyAdmin ?? owned} onClick={() => setAsking('stop')}>
            {words.actions.stop}
          </Button>
        </>
      )}
      {asking === 'start' ? <StartDialog name={name} onClose={close} /> : null}
      {asking === 'stop' ? <StopDialog name={name} onClose={close} /> : null}
      {asking === 'pause' ? <PauseDialog names={[name]} onClose={close} /> : null}
      {asking === 'resume' ? <ResumeDialog names={[name]} onClose={close} /> : null}
    </>
  )
}
