import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Explanation, Hold, PendingReason, Trigger } from '../../../../src/client/operations.js'
import type { Missed } from '../../../../src/client/ui-operations.js'
import { useAttempts } from '../../data/runs.js'
import type { Mark } from '../../design/marks.js'
import { headline, pendingSentence, ruleSentence, words } from '../../words/why.js'
import { Button } from '../button.js'
import { StateMark } from '../state-mark.js'
import { RangeDetail } from '../text/range-detail.js'
import { Time } from '../time.js'
import styles from './why-panel.module.css'

/** The answer for one instant or stretch: its mark, one sentence, and the facts behind it. */
export function Answer({
  explanation: one,
  definition,
  onAsk,
}: {
  explanation: Explanation
  /** The trigger as it is now. */
  definition?: Trigger | undefined
  /** Asks about another instant of the same trigger. */
  onAsk: (at: string) => void
}): ReactNode {
  const job = one.kind === 'run' ? one.run.job : undefined
  const allowed = useAttempts(job === undefined ? [] : [job]).get(job ?? '')
  return (
    <article className={styles['answer']}>
      <StateMark mark={markOf(one)} label={false} size={14} />
      <div className={styles['told']}>
        <p className={styles['headline']}>{headline(one, allowed)}</p>
        <dl className={styles['facts']}>
          <Facts one={one} definition={definition} onAsk={onAsk} />
        </dl>
      </div>
    </article>
  )
}

/** The mark of an answer. */
export function markOf(one: Explanation): Mark {
  switch (one.kind) {
    case 'run':
      return one.run.state === 'pending' && one.run.failures > 0 ? 'retrying' : one.run.state
    case 'range':
      return one.reason
    case 'excluded':
      return one.reason
    case 'held':
      return one.hold.target === 'all' ? 'frozen' : 'paused'
    case 'waiting':
      return one.hold === null ? 'late' : 'paused'
    case 'future':
      return 'due'
    case 'not-due':
    case 'not-defined':
      return 'not-due'
    case 'unexplained':
      return 'unexplained'
  }
}

function Facts({
  one,
  definition,
  onAsk,
}: {
  one: Explanation
  definition: Trigger | undefined
  onAsk: (at: string) => void
}): ReactNode {
  switch (one.kind) {
    case 'run':
      return (
        <>
          <DueFact first={one.at} />
          <RunFact id={one.run.id} />
          <PendingFact pending={one.pending} />
        </>
      )
    case 'range':
      return <RangeFacts one={one} definition={definition} />
    case 'excluded':
      return (
        <>
          <DueFact first={one.firstAt} last={one.lastAt} />
          <Fact name={words.rule}>
            <code>{one.rule}</code> <span className="soft">{ruleSentence(one.rule)}</span>
          </Fact>
          {one.detail === '' ? null : <Fact name={words.note}>{one.detail}</Fact>}
        </>
      )
    case 'held':
      return (
        <>
          <DueFact first={one.firstAt} last={one.lastAt} />
          <HoldFacts hold={one.hold} />
        </>
      )
    case 'waiting':
      return (
        <>
          <DueFact first={one.at} />
          {one.hold === null ? null : <HoldFacts hold={one.hold} />}
          <TimeFact name={words.lastSign} at={one.lastSignAt} />
        </>
      )
    case 'not-due':
      return (
        <>
          <NearFact name={words.before} at={one.beforeAt} onAsk={onAsk} />
          <NearFact name={words.after} at={one.afterAt} onAsk={onAsk} />
        </>
      )
    case 'not-defined':
      return (
        <>
          <TimeFact name={words.defined} at={one.definedAt} />
          <TimeFact name={words.ended} at={one.endedAt} />
        </>
      )
    case 'future':
    case 'unexplained':
      return <DueFact first={one.at} />
  }
}

function RangeFacts({
  one,
  definition,
}: {
  one: Extract<Explanation, { kind: 'range' }>
  definition: Trigger | undefined
}): ReactNode {
  const { firstAt, lastAt, reason, rule, version, blocker, blockerState, detail, recordedAt, lastSignAt } =
    one
  // The numbers are those of the definition only while it is the version that decided.
  const limits = definition?.version === version ? definition['catchUp'] : null
  return (
    <>
      <DueFact first={firstAt} last={lastAt} />
      <Fact name={words.rule}>
        <code>{rule}</code> <span className="soft">{ruleSentence(rule, limits as Missed['catchUp'])}</span>
      </Fact>
      {detail === null || detail === '' ? null : (
        <Fact name={rule.startsWith('round:') ? words.found : words.note}>
          <RangeDetail rule={rule} detail={detail} />
        </Fact>
      )}
      {blocker === null ? null : (
        <Fact name={words.blocker}>
          {blockerState === null ? null : <StateMark mark={blockerState} label={false} />}{' '}
          <Link href={`/runs/${blocker}`} className="mono">
            {blocker}
          </Link>
        </Fact>
      )}
      <TimeFact name={words.lastSign} at={lastSignAt} />
      <TimeFact name={words.recorded} at={recordedAt} />
      <Fact name={words.version}>{version}</Fact>
      {reason === 'missed' ? <Fact name={words.afterAll}>{words.backfill}</Fact> : null}
    </>
  )
}

function HoldFacts({ hold: { by, fromAt, untilAt, note } }: { hold: Hold }): ReactNode {
  return (
    <>
      <Fact name={words.heldBy}>
        {by} · <Time at={fromAt} />
      </Fact>
      <Fact name={words.until}>{untilAt === null ? words.noEnd : <Time at={untilAt} />}</Fact>
      {note === '' ? null : <Fact name={words.note}>{note}</Fact>}
    </>
  )
}

function RunFact({ id }: { id: string }): ReactNode {
  return (
    <Fact name={words.run}>
      <Link href={`/runs/${id}`} className="mono">
        {id}
      </Link>{' '}
      <span className="soft">{words.runHint}</span>
    </Fact>
  )
}

function PendingFact({ pending }: { pending: readonly PendingReason[] }): ReactNode {
  return pending.map((reason) => (
    <Fact key={reason.kind} name={words.waitsFor}>
      {pendingSentence(reason)} {'at' in reason ? <Time at={reason.at} /> : null}
      {'holders' in reason
        ? reason.holders.slice(0, 3).map((id) => (
            <Link key={id} href={`/runs/${id}`} className="mono">
              {id}{' '}
            </Link>
          ))
        : null}
    </Fact>
  ))
}

function DueFact({ first, last = first }: { first: string; last?: string }): ReactNode {
  return (
    <Fact name={words.due}>
      <Time at={first} />
      {last === first ? null : (
        <>
          {' '}
          {words.to} <Time at={last} />
        </>
      )}
    </Fact>
  )
}

function NearFact({
  name,
  at,
  onAsk,
}: {
  name: string
  at: string | null
  onAsk: (at: string) => void
}): ReactNode {
  if (at === null) return null
  return (
    <Fact name={`${words.due} ${name}`}>
      <Time at={at} />{' '}
      <Button tone="quiet" onClick={() => onAsk(at)}>
        {words.button}
      </Button>
    </Fact>
  )
}

function TimeFact({ name, at }: { name: string; at: string | null }): ReactNode {
  if (at === null) return null
  return (
    <Fact name={name}>
      <Time at={at} />
    </Fact>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
