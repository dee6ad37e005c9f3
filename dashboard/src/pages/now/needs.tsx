import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Sensor } from '../../../../src/client/operations.js'
import type { LateRun, Missed, Now, Queue, RunBrief } from '../../../../src/client/ui-operations.js'
import type { Mark } from '../../design/marks.js'
import { api, problemOf } from '../../data/api.js'
import { formatCount } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { useAttempts } from '../../data/runs.js'
import { sensorHref, sensorMarks, sensorsQuery } from '../../data/sensors.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import { Panel } from '../../parts/panel.js'
import { Time } from '../../parts/time.js'
import { useToast } from '../../parts/toast.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { triesText } from '../../words/run.js'
import { words as common } from '../../words/common.js'
import { words } from '../../words/now.js'
import { missedSentence, pendingSentence } from '../../words/why.js'
import styles from './page.module.css'

/** Problems that need attention: failed runs that were not repaired, missed due times, late runs, failing sensors. */
export function Needs({ now }: { now: Now }): ReactNode {
  const { troubled, missed, late } = now
  const behind = now.queues.filter((queue) => isBehind(queue, now.at))
  const failed = byName(troubled.items)
  const allowed = useAttempts(failed.map(([{ job }]) => job))
  const { data } = useQuery(sensorsQuery)
  const sensors =
    data?.items.filter(({ condition }) => condition === 'failing' || condition === 'broken') ?? []
  const count = failed.length + missed.items.length + late.items.length + behind.length + sensors.length
  const isMore = troubled.more || missed.more || late.more
  return (
    <Panel title={words.needs.title} aside={common.total(formatCount(count), isMore)}>
      {count === 0 && data !== undefined ? (
        <div className={styles['calm']}>
          <StateMark mark="done" label={words.needs.calm} />
          <span className="soft">{words.needs.calmText}</span>
        </div>
      ) : (
        <ul>
          {failed.map(([newest, ...others]) => (
            <Failed key={newest.id} run={newest} others={others.length} allowed={allowed.get(newest.job)} />
          ))}
          {missed.items.map((one) => (
            <MissedRow key={one.trigger} missed={one} />
          ))}
          {late.items.map((run) => (
            <Late key={run.id} run={run} />
          ))}
          {behind.map((queue) => (
            <Behind key={queue.name} queue={queue} />
          ))}
          {sensors.map((sensor) => (
            <FailingSensor key={sensor.name} sensor={sensor} />
          ))}
        </ul>
      )}
      {troubled.items.length > 0 || troubled.lookedAt !== null ? (
        <p className={styles['foot']}>
          {words.needs.rule} {troubled.lookedAt === null ? null : words.needs.lookedAt(troubled.lookedAt)}{' '}
          {troubled.more || troubled.lookedAt !== null ? (
            <Link href="/runs?q=state:failed&by=error">
              {troubled.more ? words.needs.moreFailed : words.needs.allFailed}
            </Link>
          ) : null}
        </p>
      ) : null}
    </Panel>
  )
}

/** Whether the oldest ready run of a queue has waited for more than a minute. */
function isBehind({ oldestReadyAt, paused }: Queue, at: string): boolean {
  return !paused && oldestReadyAt !== null && Date.parse(at) - Date.parse(oldestReadyAt) > 60_000
}

/** Groups runs by trigger and job, newest first: a trigger that fails all night is one row. */
function byName(runs: readonly RunBrief[]): readonly (readonly [RunBrief, ...RunBrief[]])[] {
  const groups = new Map<string, [RunBrief, ...RunBrief[]]>()
  for (const run of runs) {
    const key = JSON.stringify([run.trigger, run.job])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [run])
    else group.push(run)
  }
  return [...groups.values()]
}

/** The server returns at most this many further runs of a trigger; there may be more. */
const mostOthers = 9

function Failed({
  run,
  others,
  allowed,
}: {
  run: RunBrief
  others: number
  /** How many attempts its job allows. */
  allowed: number | undefined
}): ReactNode {
  const { id, trigger, job, dueAt, error } = run
  const q = `state:failed ${trigger === null ? `job:${job}` : `trigger:${trigger}`}`
  return (
    <Row
      mark="failed"
      name={trigger ?? job}
      to={`/runs/${id}`}
      what={words.needs.failed(triesText(run, allowed))}
      at={dueAt}
      detail={error === null ? null : printable(error.message)}
    >
      {others === 0 ? null : (
        <Link href={`/runs?q=${encodeURIComponent(q)}`} className={styles['others']}>
          {words.needs.others(common.total(formatCount(others), others >= mostOthers))}
        </Link>
      )}
      {trigger === null ? null : <WhyButton trigger={trigger} from={dueAt} />}
    </Row>
  )
}

function MissedRow({ missed }: { missed: Missed }): ReactNode {
  const { trigger, ranges, firstAt, lastAt, seq } = missed
  const toast = useToast()
  const client = useQueryClient()
  const { why } = useMay('operate')
  const look = async (): Promise<void> => {
    const { before } = await api('POST /ui/missed/looked', { body: { trigger, seq } })
    await client.invalidateQueries({ queryKey: ['now'] })
    toast({
      text: words.needs.lookedDone(trigger),
      undo: async () => {
        await api('POST /ui/missed/looked', { body: { trigger, seq: before, insteadOf: seq } })
        await client.invalidateQueries({ queryKey: ['now'] })
      },
    })
  }
  return (
    <Row
      mark="missed"
      name={trigger}
      to={`/triggers/${encodeURIComponent(trigger)}`}
      what={words.needs.missed(ranges)}
      at={lastAt}
      detail={missedSentence(missed)}
    >
      <WhyButton trigger={trigger} from={firstAt} until={lastAt} />
      <Button
        why={why}
        title={words.needs.lookedHint}
        onClick={() => void look().catch((error: unknown) => toast({ text: problemOf(error) }))}
      >
        {words.needs.looked}
      </Button>
    </Row>
  )
}

function Late({ run: { id, trigger, job, runAt, dueAt, pending } }: { run: LateRun }): ReactNode {
  const [reason] = pending
  return (
    <Row
      mark="late"
      name={trigger ?? job}
      to={`/runs/${id}`}
      what={words.needs.late}
      at={runAt}
      detail={reason === undefined ? null : pendingSentence(reason)}
    >
      {trigger === null ? null : <WhyButton trigger={trigger} from={dueAt} />}
    </Row>
  )
}

function Behind({ queue: { name, ready, oldestReadyAt } }: { queue: Queue }): ReactNode {
  return (
    <Row
      mark="late"
      name={name}
      to="/queues"
      what={words.needs.backlog(ready)}
      at={oldestReadyAt ?? ''}
      detail={null}
    >
      {null}
    </Row>
  )
}

function FailingSensor({
  sensor: { name, condition, failures, lastPollAt, last },
}: {
  sensor: Sensor
}): ReactNode {
  return (
    <Row
      mark={sensorMarks[condition]}
      name={name}
      to={sensorHref(name)}
      what={words.needs.sensor(failures)}
      at={lastPollAt ?? ''}
      detail={last?.reason == null ? null : printable(last.reason)}
    >
      {null}
    </Row>
  )
}

function Row(props: {
  mark: Mark
  name: string
  to: string
  what: string
  at: string
  detail: ReactNode
  children: ReactNode
}): ReactNode {
  const { mark, name, to, what, at, detail, children } = props
  return (
    <li className={styles['row']}>
      <StateMark mark={mark} label={false} />
      <div className={styles['what']}>
        <span className={styles['first']}>
          <Link href={to} className={styles['name']}>
            {name}
          </Link>
          <span>{what}</span>
          {at === '' ? null : <Time at={at} />}
        </span>
        {detail === null ? null : (
          <bdi
            className={`${styles['second']} few-lines`}
            title={typeof detail === 'string' ? detail : undefined}
          >
            {detail}
          </bdi>
        )}
      </div>
      <div className={styles['actions']}>{children}</div>
    </li>
  )
}
