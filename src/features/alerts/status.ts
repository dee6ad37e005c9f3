import { alertJobPrefix } from '../../kernel/alert/notice.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Channel } from './definition.js'
import { countOf } from './groups.js'
import { readAbouts } from './loop.js'
import { readAllAlerts, type StoredRule } from './rules.js'

/** The state of alerts. */
export interface AlertStatus {
  readonly channels: readonly ChannelStatus[]
  readonly rules: readonly RuleStatus[]
  /** What waits to be sent, is quiet, or fails and has not recovered. */
  readonly subjects: readonly SubjectStatus[]
}

/** A channel and what it sent last. */
export interface ChannelStatus {
  readonly name: string
  readonly kind: Channel['kind']
  readonly source: string
  /** When its newest message was sent. */
  readonly lastSentAt: Instant | undefined
  /** The newest message that could not be sent. */
  readonly lastFailure: { readonly run: RunId; readonly at: Instant; readonly text: string } | undefined
}

/** A rule and its owner. */
export interface RuleStatus extends Omit<StoredRule, 'except'> {
  readonly source: string
}

/** The state of a rule for one job, trigger or worker. */
export interface SubjectStatus {
  readonly source: string
  readonly rule: string
  readonly subject: string
  /** How many notices wait for a message. */
  readonly waiting: number
  readonly sendAt: Instant | undefined
  readonly quietUntil: Instant | undefined
  readonly isFailing: boolean
}

/** How far back the last message of a channel is searched for. */
const lastMs = 30 * 86_400_000

/** Reads the state of alerts. */
export async function alertStatus(store: Store, now: Instant): Promise<AlertStatus> {
  const all = await readAllAlerts(store)
  const channels = all.flatMap(({ source, channels: some }) =>
    Object.entries(some).map(([name, { kind }]) => ({ name, kind, source })),
  )
  const abouts = await readAbouts(store)
  return {
    channels: await Promise.all(
      channels.map(async (one) => ({ ...one, ...(await lastOf(store, one.name, now)) })),
    ),
    rules: all.flatMap(({ source, rules }) => rules.map((rule) => ruleStatus(source, rule))),
    subjects: abouts.map(({ source, rule, subject, about }) => ({
      source,
      rule,
      subject,
      waiting: countOf(about),
      sendAt: about.sendAt ?? undefined,
      quietUntil: about.quietUntil !== null && about.quietUntil > now ? about.quietUntil : undefined,
      isFailing: about.failing !== null,
    })),
  }
}

function ruleStatus(source: string, rule: StoredRule): RuleStatus {
  const { name, on, channels, jobs, triggers, groupMs, quietMs } = rule
  return { source, name, on, channels, jobs, triggers, groupMs, quietMs }
}

async function lastOf(
  store: Store,
  name: string,
  now: Instant,
): Promise<Pick<ChannelStatus, 'lastSentAt' | 'lastFailure'>> {
  const of = { job: `${alertJobPrefix}${name}`, sinceAt: now - lastMs, limit: 1 }
  const [[done], [failed]] = await Promise.all([
    store.runs({ ...of, state: 'done' }),
    store.runs({ ...of, state: 'failed' }),
  ])
  const { id, finishedAt, error } = failed ?? {}
  const lastFailure =
    id === undefined || finishedAt === undefined
      ? undefined
      : { run: id, at: finishedAt, text: error?.message ?? '' }
  return { lastSentAt: done?.finishedAt, lastFailure }
}
