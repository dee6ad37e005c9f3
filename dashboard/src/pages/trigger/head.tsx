import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Trigger } from '../../../../src/client/operations.js'
import { useMay } from '../../data/session.js'
import { TriggerBackfillDialog } from '../../parts/backfill/trigger-backfill-dialog.js'
import { Button } from '../../parts/button.js'
import head from '../../parts/page-head.module.css'
import { Held } from '../../parts/triggers/held-line.js'
import { PauseDialog } from '../../parts/triggers/pause-dialog.js'
import { ResumeDialog } from '../../parts/triggers/resume-dialog.js'
import { TriggerState } from '../../parts/triggers/trigger-state.js'
import { ScheduleLine } from '../../parts/why/schedule-line.js'
import { useKeys } from '../../shell/keys.js'
import { words as edit } from '../../words/edit-trigger.js'
import { words } from '../../words/trigger.js'
import { EditDialog } from './edit-dialog.js'
import { RunNowDialog } from './run-now.js'
import { cronOf, useCronPreview } from './schedule.js'

type Asking = 'run' | 'pause' | 'resume' | 'edit' | 'backfill'

/** The head of the page: name, schedule, where it is defined, and buttons. */
export function TriggerHead({ trigger }: { trigger: Trigger }): ReactNode {
  const { name, job, state, source } = trigger
  const { why } = useMay('operate')
  const [asking, setAsking] = useState<Asking>()
  const { why: whyAdmin } = useMay('admin')
  const owned = /^(?:config|code):/.test(source) ? edit.owned(source) : undefined
  const ended = state === 'ended' ? words.endedWhy : undefined
  const uncomputed = isComputed(trigger) ? undefined : words.uncomputedWhy
  const isPaused = state === 'paused'
  const close = (): void => setAsking(undefined)
  const ask = (what: Asking): void => {
    if (why === undefined && ended === undefined) setAsking(what)
  }
  useKeys([
    { keys: 'R', label: words.actions.run, act: () => ask('run') },
    {
      keys: 'p',
      label: isPaused ? words.actions.resume : words.actions.pause,
      act: () => ask(isPaused ? 'resume' : 'pause'),
    },
  ])
  return (
    <header className={head['head']}>
      <div className={head['names']}>
        <div className={head['line']}>
          <h1>{name}</h1>
          <TriggerState state={state} />
        </div>
        <ScheduleSentence trigger={trigger} />
        <p className="soft">
          {words.runs} <Link href={`/runs?q=${encodeURIComponent(`job:${job}`)}`}>{job}</Link>
          {' · '}
          {words.source(source)}
        </p>
        <Held name={name} state={state} />
      </div>
      <div className={head['actions']}>
        <Button why={why ?? ended} onClick={() => ask('run')}>
          {words.actions.run}
        </Button>
        {isPaused ? (
          <Button tone="main" why={why} onClick={() => ask('resume')}>
            {words.actions.resume}
          </Button>
        ) : (
          <Button why={why ?? ended} onClick={() => ask('pause')}>
            {words.actions.pause}
          </Button>
        )}
        <Button why={why ?? uncomputed} onClick={() => setAsking('backfill')}>
          {words.actions.backfill}
        </Button>
        <Button why={whyAdmin ?? ended ?? owned} onClick={() => setAsking('edit')}>
          {words.actions.edit}
        </Button>
      </div>
      {asking === 'edit' ? <EditDialog trigger={trigger} onClose={close} /> : null}
      {asking === 'run' ? <RunNowDialog trigger={trigger} onClose={close} /> : null}
      {asking === 'backfill' ? (
        <TriggerBackfillDialog trigger={name} {...lastWeek()} onClose={close} />
      ) : null}
      {asking === 'pause' ? <PauseDialog names={[name]} onClose={close} /> : null}
      {asking === 'resume' ? <ResumeDialog names={[name]} onClose={close} /> : null}
    </header>
  )
}

const weekMs = 7 * 24 * 3_600_000

/** The initial range of the backfill dialog: the last seven days. */
function lastWeek(): { from: string; to: string } {
  const now = Math.floor(Date.now() / 60_000) * 60_000
  return { from: new Date(now - weekMs).toISOString(), to: new Date(now).toISOString() }
}

/** Whether the due times depend only on the definition. */
function isComputed({ schedule: { kind } }: Trigger): boolean {
  return kind === 'cron' || kind === 'interval' || kind === 'once'
}

function ScheduleSentence({ trigger }: { trigger: Trigger }): ReactNode {
  const cron = cronOf(trigger)
  const preview = useCronPreview(trigger)
  if (cron === undefined)
    return (
      <p>
        <ScheduleLine trigger={trigger} />
      </p>
    )
  return (
    <p className={head['line']}>
      {preview?.description == null ? null : <strong>{preview.description}</strong>}
      <code>{cron.expression}</code>
      <span>{cron.timezone}</span>
      <span className="soft" title={words.dstRules[cron.dst]}>
        {words.dst(cron.dst)}
      </span>
    </p>
  )
}
