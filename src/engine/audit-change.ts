/** How a requested change becomes an entry of the audit. */
import { randomUUID } from 'node:crypto'
import { subjectName, type Audit, type AuditSubject, type ChangeRecord } from '../kernel/audit/audit.js'
import type { Author, ChangeOptions, NamedChange } from '../kernel/audit/change-options.js'
import { triggerTag } from '../kernel/audit/snapshot.js'
import { staleRevision } from '../kernel/audit/stale-revision.js'
import { refuse } from '../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../kernel/definition/faults.js'
import type { Json } from '../kernel/definition/json.js'
import type { Store } from '../store/port.js'
import type { Instant } from '../time/instant.js'

/** What the audit records about a change. */
export interface AskedAudit {
  /** The action, such as `run.retry`. */
  readonly action: string
  /** The target of the action; default: the first subject. */
  readonly target?: string | undefined
  readonly subjects: readonly AuditSubject[]
  /** The new state, for an entry without subjects. */
  readonly after?: Json | undefined
}

/** From this number of definitions on, one entry covers all of them. */
export const mostAudits = 50

/** How many names such an entry has. */
const mostNames = 20

/** One audit entry for many definitions. */
export function manyDefined(names: readonly string[]): AskedAudit {
  const after = { definitions: names.length, first: names.slice(0, mostNames) }
  return { action: 'definitions.add', target: 'store', subjects: [], after }
}

/** Makes the record of a change. */
export function changeRecord(
  asked: readonly AskedAudit[],
  { options, author, now }: { options: ChangeOptions; author: Author; now: Instant },
): ChangeRecord {
  const { by = author.by, via = author.via, reason = author.reason, tag, alongside } = options
  const place = placeOf()
  checkText(by, longest.by, within(place, 'by'))
  if (reason !== undefined) checkText(reason, longest.reason, within(place, 'reason'))
  refuse('the change', place.faults)
  const id = randomUUID()
  const audits = asked.map(({ action, subjects, target = nameOf(subjects), after }, i): Audit => {
    const entry = { id: i === 0 ? id : `${id}.${i}`, at: now, actor: by, via, action, target }
    return { entry: { ...entry, reason, before: undefined, after }, subjects }
  })
  const named = (): readonly NamedChange[] =>
    audits.map(({ entry: { action, target }, subjects }) => {
      return { action, target, subjects: subjects.slice(0, mostNames).map(subjectName) }
    })
  return { audits, state: alongside?.(named()), expected: expectedOf(asked, tag) }
}

/** Lists of changes show both, so they must stay short. */
const longest = { by: 256, reason: 4096 } as const

function checkText(text: unknown, most: number, place: Place): void {
  if (typeof text === 'string' && text.length <= most) return
  const message =
    typeof text === 'string' ? `it has ${text.length} characters` : `${shown(text)} is not a text`
  fault(place, message, `a text of at most ${most} characters`)
}

function nameOf([first]: readonly AuditSubject[]): string {
  return first === undefined ? 'store' : subjectName(first)
}

/** The tag must match the trigger that is changed, paused or resumed. */
function expectedOf(asked: readonly AskedAudit[], tag: string | undefined): ChangeRecord['expected'] {
  if (tag === undefined) return undefined
  for (const { target, subjects } of asked) {
    const [, trigger] = /^trigger:(.*)$/s.exec(target ?? nameOf(subjects)) ?? []
    if (trigger !== undefined) return { trigger, tag }
  }
  return undefined
}

/** Refuses what the store would refuse; needed for a dry run, which does not reach the transaction. */
export async function checkTag(store: Store, { expected }: ChangeRecord, now: Instant): Promise<void> {
  if (expected === undefined) return
  const [stored] = await store.triggers({ names: [expected.trigger] })
  const [pause] = await store.holds({ target: `trigger:${expected.trigger}`, openAt: now })
  const tag = stored === undefined ? undefined : triggerTag(stored, pause)
  if (tag !== expected.tag) throw staleRevision(expected, tag)
}
