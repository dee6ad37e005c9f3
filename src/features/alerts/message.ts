import type { AlertKind, AlertNotice } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import type { RunId } from '../../kernel/identity/identity.js'
import { printable } from '../../text/printable.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { countOf, type About } from './groups.js'

/** A message, as the payload of the runs that send it. */
export interface AlertMessage {
  /** The same for every channel and every attempt. */
  readonly id: string
  readonly at: string
  /** The rule that sent it; null for a test. */
  readonly rule: string | null
  readonly isTest: boolean
  /** A summary in one line. */
  readonly title: string
  /** How many notices it is about. */
  readonly count: number
  readonly items: readonly AlertItem[]
  /** How many jobs and triggers are not listed. */
  readonly more: number
}

/** What a message says about one job, trigger or worker. */
export interface AlertItem {
  readonly on: AlertKind
  readonly job: string | null
  readonly trigger: string | null
  /** How many notices there were about it since the last message. */
  readonly count: number
  /** The newest ones. */
  readonly examples: readonly {
    readonly at: string
    readonly dueAt: string | null
    readonly run: RunId | null
    readonly text: string
  }[]
}

/** How many jobs and triggers a message lists. */
const mostItems = 20

/** The message about these entries. */
export function messageOf(
  abouts: readonly Pick<About, 'counts' | 'examples'>[],
  head: { readonly id: string; readonly at: Instant; readonly rule: string },
): AlertMessage {
  const items = abouts.slice(0, mostItems).flatMap((about) => itemOf(about) ?? [])
  const count = abouts.reduce((sum, about) => sum + countOf(about), 0)
  const { id, rule } = head
  const title = titleOf(abouts, items)
  return {
    id,
    at: formatInstant(head.at),
    rule,
    isTest: false,
    title,
    count,
    items,
    more: Math.max(0, abouts.length - mostItems),
  }
}

/** The message of `rota alert test`. */
export function testMessage(id: string, at: Instant): AlertMessage {
  const title = 'This is a test of Rota’s alerts.'
  return { id, at: formatInstant(at), rule: null, isTest: true, title, count: 0, items: [], more: 0 }
}

function itemOf(about: Pick<About, 'counts' | 'examples'>): AlertItem | undefined {
  const last = about.examples.at(-1)
  if (last === undefined) return undefined
  const { on, job, trigger } = last
  return { on, job, trigger, count: countOf(about), examples: about.examples.map(exampleOf) }
}

function exampleOf({ at, dueAt, run, text }: AlertNotice): AlertItem['examples'][number] {
  return { at: formatInstant(at), dueAt: dueAt === null ? null : formatInstant(dueAt), run, text }
}

const words: Readonly<Record<AlertKind, readonly [one: string, many: string]>> = {
  failure: ['failed run', 'failed runs'],
  quarantined: ['quarantined run', 'quarantined runs'],
  recovery: ['recovery', 'recoveries'],
  sla: ['SLA breach', 'SLA breaches'],
  missed: ['missed instant', 'missed instants'],
  paused: ['automatic pause', 'automatic pauses'],
  'sensor-behind': ['late sensor poll', 'late sensor polls'],
  'worker-lost': ['lost worker', 'lost workers'],
}

function titleOf(abouts: readonly Pick<About, 'counts'>[], items: readonly AlertItem[]): string {
  const sums = new Map<AlertKind, number>()
  for (const { counts } of abouts) {
    for (const [on, count] of Object.entries(counts) as [AlertKind, number][])
      sums.set(on, (sums.get(on) ?? 0) + count)
  }
  const counted = [...sums].map(([on, count]) => `${count} ${words[on][count === 1 ? 0 : 1]}`)
  const names = [...new Set(items.flatMap(({ trigger, job }) => trigger ?? job ?? []))]
  const listed = names.slice(0, 3).join(', ')
  const others = abouts.length - Math.min(names.length, 3)
  return `${counted.join(', ')}${listed === '' ? '' : `: ${listed}`}${listed !== '' && others > 0 ? ` and ${others} more` : ''}`
}

/** A message as lines of text. */
export function linesOf({ title, items, more }: AlertMessage): readonly string[] {
  const lines = items.flatMap(({ on, job, trigger, count, examples }) => {
    const last = examples.at(-1)
    const name = trigger ?? job
    const about = `${name === null ? '' : `${name}: `}${printable(last?.text ?? '')}`
    const times = count > 1 ? ` (${count} times)` : ''
    const run = last?.run == null ? '' : ` · rota why ${last.run}`
    return [`${on === 'recovery' ? 'recovered' : words[on][0]} · ${about}${times}${run}`]
  })
  return [title, ...lines, ...(more > 0 ? [`… and ${more} more`] : [])]
}

/** The message in the payload of a run. */
export function messageIn(payload: unknown): AlertMessage {
  return payload as AlertMessage
}

/** A message as the payload of a run. */
export function payloadOf(message: AlertMessage): Json {
  return message as unknown as Json
}
