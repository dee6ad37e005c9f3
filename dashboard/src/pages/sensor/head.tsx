import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Sensor } from '../../../../src/client/operations.js'
import { sensorMarks } from '../../data/sensors.js'
import { useMay } from '../../data/session.js'
import { triggerHref } from '../../data/triggers.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import head from '../../parts/page-head.module.css'
import { HeldLine } from '../../parts/triggers/held-line.js'
import { PauseDialog } from '../../parts/triggers/pause-dialog.js'
import { ResumeDialog } from '../../parts/triggers/resume-dialog.js'
import { words } from '../../words/sensors.js'
import { PreviewDialog } from './preview-dialog.js'
import { ResetDialog } from './reset-dialog.js'

type Asking = 'preview' | 'reset' | 'pause' | 'resume'

/** The name and condition of a sensor, why it is paused, and what can be done. */
export function SensorHead({ sensor }: { sensor: Sensor }): ReactNode {
  const { name, type, job, condition, pause } = sensor
  const { why } = useMay('operate')
  const [asking, setAsking] = useState<Asking>()
  const close = (): void => setAsking(undefined)
  const isPaused = condition === 'paused'
  const noPoll = type === 'webhook' ? words.noPoll : undefined
  return (
    <header className={head['head']}>
      <div className={head['names']}>
        <div className={head['line']}>
          <h1>{name}</h1>
          <StateMark mark={sensorMarks[condition]} label={words.conditions[condition]} />
        </div>
        <p className="soft">
          {words.typeOf(type)} · {words.starts}{' '}
          <Link href={`/runs?q=${encodeURIComponent(`job:${job}`)}`}>{job}</Link> ·{' '}
          <Link href={triggerHref(name)}>{words.trigger}</Link>
        </p>
        {pause === null ? null : <HeldLine {...pause} />}
      </div>
      <div className={head['actions']}>
        <Button why={why ?? noPoll} onClick={() => setAsking('preview')}>
          {words.actions.preview}
        </Button>
        <Button why={why} onClick={() => setAsking(isPaused ? 'resume' : 'pause')}>
          {isPaused ? words.actions.resume : words.actions.pause}
        </Button>
        <Button why={why} onClick={() => setAsking('reset')}>
          {words.actions.reset}
        </Button>
      </div>
      {asking === 'preview' ? <PreviewDialog name={name} onClose={close} /> : null}
      {asking === 'reset' ? <ResetDialog name={name} onClose={close} /> : null}
      {asking === 'pause' ? <PauseDialog names={[name]} onClose={close} /> : null}
      {asking === 'resume' ? <ResumeDialog names={[name]} onClose={close} /> : null}
    </header>
  )
}
