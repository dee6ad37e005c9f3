import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatCount } from '../../data/format.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/edit-trigger.js'
import type { EditPlan } from './edit-dialog.js'
import type { EditFields } from './edit-form.js'
import styles from './edit-dialog.module.css'
import { ChangeText } from './next.js'
import { clockChanges, previewQuery } from './schedule.js'

const shown = 5

/** The next instants after a change, the sentence of the expression, and the instants that appear and vanish. */
export function EditPreview({ plan, fields }: { plan: EditPlan; fields: EditFields }): ReactNode {
  const { cron, timezone, dst } = fields
  const { data: preview } = useQuery({
    ...previewQuery({ expression: cron.trim(), timezone: timezone.trim(), dst: dst === '' ? 'vixie' : dst }),
    enabled: cron !== '',
  })
  const { nextAfter, appear, vanish, moved, capped } = plan
  return (
    <>
      {preview?.description == null ? null : <p>{preview.description}</p>}
      <h3>{words.next}</h3>
      <Instants at={nextAfter} zone={timezone} />
      {clockChanges(preview)
        .slice(0, 2)
        .map((change) => (
          <p key={change.changeAt} className={styles['warning']}>
            <span aria-hidden="true">⚠</span> <ChangeText change={change} />
          </p>
        ))}
      {appear.length + vanish.length + moved.length === 0 ? (
        <p className="soft">{words.same}</p>
      ) : (
        <div className={styles['diff']}>
          {appear.length === 0 ? null : (
            <section>
              <h3>{words.appear(formatCount(appear.length), capped)}</h3>
              <Instants at={appear} zone={timezone} sign="+" />
            </section>
          )}
          {vanish.length === 0 ? null : (
            <section>
              <h3>{words.vanish(formatCount(vanish.length), capped)}</h3>
              <Instants at={vanish} zone={timezone} sign="−" />
            </section>
          )}
          {moved.length === 0 ? null : (
            <section>
              <h3>{words.moved(formatCount(moved.length), capped)}</h3>
              <Moved moved={moved} zone={timezone} />
            </section>
          )}
        </div>
      )}
      <Consequences plan={plan} />
    </>
  )
}

/** How busy it becomes with all other triggers, and what happens at once. */
function Consequences({ plan: { load, atOnce } }: { plan: EditPlan }): ReactNode {
  const { before, after } = load
  return (
    <>
      <p>
        {words.load(countOf(before), countOf(after))} <Peak load={before} /> → <Peak load={after} />
      </p>
      {atOnce === null ? null : (
        <p className={styles['warning']}>{words.atOnce(atOnce.runs, atOnce.skipped.join(', '))}</p>
      )}
    </>
  )
}

function countOf({ instants, isCapped }: EditPlan['load']['before']): string {
  return `${formatCount(instants)}${isCapped ? '+' : ''}`
}

function Peak({ load: { peak, peakAt } }: { load: EditPlan['load']['before'] }): ReactNode {
  if (peakAt === null) return words.noPeak
  return (
    <>
      {formatCount(peak)} {words.at} <Time at={peakAt} relative={false} />
    </>
  )
}

function Moved({ moved, zone: given }: { moved: EditPlan['moved']; zone: string }): ReactNode {
  const zone = given === '' ? undefined : given
  return (
    <ul>
      {moved.slice(0, shown).map(({ from, to }) => (
        <li key={`${from} ${to}`}>
          <Time at={from} zone={zone} relative={false} /> →{' '}
          <Time at={to} zone={zone} withOffset relative={false} />
        </li>
      ))}
      {moved.length > shown ? (
        <li className="soft">{words.more(formatCount(moved.length - shown))}</li>
      ) : null}
    </ul>
  )
}

function Instants({ at, zone, sign }: { at: readonly string[]; zone: string; sign?: string }): ReactNode {
  return (
    <ul>
      {at.slice(0, shown).map((one) => (
        <li key={one}>
          {sign === undefined ? null : <span aria-hidden="true">{sign} </span>}
          <Time at={one} zone={zone === '' ? undefined : zone} withOffset relative={false} />
        </li>
      ))}
      {at.length > shown ? <li className="soft">{words.more(formatCount(at.length - shown))}</li> : null}
    </ul>
  )
}
