import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../../../src/client/operations.js'
import { runMark, useAttempts } from '../../data/runs.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { CopyButton } from '../../parts/copy-button.js'
import { StateMark } from '../../parts/state-mark.js'
import head from '../../parts/page-head.module.css'
import { Time } from '../../parts/time.js'
import { askWhy } from '../../parts/why/why-address.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { useKeys } from '../../shell/keys.js'
import { attemptText, words } from '../../words/run.js'
import { CancelDialog, RetryDialog, RunAgainDialog } from './actions.js'

/** Which run it is, how it stands, and what can be done about it. */
export function RunHead({ run }: { run: Run }): ReactNode {
  const [asked, setAsked] = useState<'retry' | 'cancel' | 'again'>()
  const { why } = useMay('operate')
  const { id, trigger, job, state, attempt, dueAt, cancelRequested } = run
  const allowed = useAttempts([job]).get(job)
  const canRetry = state === 'failed' || state === 'cancelled'
  const canCancel = state === 'pending' || state === 'running'
  useKeys([
    {
      keys: 'R',
      label: words.actions.retryAction,
      act: () => canRetry && why === undefined && setAsked('retry'),
    },
    ...(trigger === null
      ? []
      : [{ keys: 'e', label: words.actions.why, act: () => askWhy({ trigger, from: dueAt }) }]),
  ])
  const close = (): void => setAsked(undefined)
  return (
    <header className={head['head']}>
      <div className={head['names']}>
        <h1>
          {trigger === null ? job : <Link href={`/triggers/${encodeURIComponent(trigger)}`}>{trigger}</Link>}
        </h1>
        <p className={head['line']}>
          <StateMark mark={runMark(run)} />
          {attempt > 0 ? <span className="soft">{attemptText(run, allowed)}</span> : null}
          {cancelRequested && state === 'running' ? <span className="soft">{words.stopping}</span> : null}
          <span className="soft">{words.steps.due}</span> <Time at={dueAt} withOffset />
          <code className="soft">{id}</code>
          <CopyButton text={id} label={words.copyId} />
        </p>
      </div>
      <div className={head['actions']}>
        <Button
          tone={canRetry ? 'main' : 'plain'}
          why={why ?? (canRetry ? undefined : words.actions.only('failed or cancelled'))}
          onClick={() => setAsked('retry')}
        >
          {words.actions.retry}
        </Button>
        <Button
          why={why ?? (canCancel ? undefined : words.actions.only('pending or running'))}
          onClick={() => setAsked('cancel')}
        >
          {words.actions.cancel}
        </Button>
        <Button why={why} onClick={() => setAsked('again')}>
          {words.actions.again}
        </Button>
        {trigger === null ? null : <WhyButton trigger={trigger} from={dueAt} />}
      </div>
      {asked === 'retry' ? <RetryDialog run={run} onClose={close} /> : null}
      {asked === 'cancel' ? <CancelDialog run={run} onClose={close} /> : null}
      {asked === 'again' ? <RunAgainDialog run={run} onClose={close} /> : null}
    </header>
  )
}
