/**
 * The rules and channels of an app. A process with the scheduler role writes them to the store when it starts, so that
 * every process groups notices by the same rules, and `rota alert list` shows them without the config.
 */
import type { Registry } from '../../engine/sync/registry.js'
import { alertKinds, watchKey, type AlertKind, type AlertNotice } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { ruleDefaults, type AlertRule, type Channel } from './definition.js'
import type { OwnAlerts } from './own.js'

/** A rule as the store keeps it. */
export interface StoredRule extends AlertRule {
  /** Jobs and triggers that have their own `alerts`, which replace this rule. */
  readonly except: { readonly jobs: readonly string[]; readonly triggers: readonly string[] }
}

/** The alerts of one source as the store keeps them: no secret, and no address that may be one. */
export interface StoredAlerts {
  readonly channels: Readonly<Record<string, { readonly kind: Channel['kind'] }>>
  readonly rules: readonly StoredRule[]
}

/** The alerts of a source with its name. */
export interface SourceAlerts extends StoredAlerts {
  readonly source: string
}

/** What is reported about a job or trigger that has its own `alerts`. */
const definitionKinds: readonly AlertKind[] = alertKinds.filter((kind) => kind !== 'worker-lost')

/** The rules of an app, those of its jobs and triggers among them. */
export function storedAlerts(
  { jobs, triggers }: Pick<Registry, 'jobs' | 'triggers'>,
  own: OwnAlerts,
): StoredAlerts {
  const ofJobs = [...jobs.values()].flatMap(({ job: { name, alerts } }) =>
    alerts === undefined ? [] : [{ name, alerts }],
  )
  const ofTriggers = [...triggers.values()].flatMap(({ name, alerts }) =>
    alerts === undefined ? [] : [{ name, alerts }],
  )
  const except = { jobs: ofJobs.map(({ name }) => name), triggers: ofTriggers.map(({ name }) => name) }
  const nobody = { jobs: [], triggers: [] }
  const of = (what: 'jobs' | 'triggers', { name, alerts }: (typeof ofJobs)[number]): StoredRule[] => {
    if (alerts === false) return []
    const only = { jobs: null, triggers: null, [what]: [name] }
    // The alerts of a trigger override those of its job.
    const others = what === 'jobs' ? { jobs: [], triggers: except.triggers } : nobody
    return [
      {
        name: `${what}/${name}`,
        on: definitionKinds,
        channels: alerts,
        ...only,
        ...ruleDefaults,
        except: others,
      },
    ]
  }
  return {
    channels: Object.fromEntries([...own.channels].map(([name, { kind }]) => [name, { kind }])),
    rules: [
      ...[...own.rules.values()].map((rule) => ({ ...rule, except })),
      ...ofJobs.flatMap((one) => of('jobs', one)),
      ...ofTriggers.flatMap((one) => of('triggers', one)),
    ],
  }
}

/** Whether a rule reports a notice. */
export function concerns(rule: StoredRule, { on, job, trigger }: AlertNotice): boolean {
  if (!rule.on.includes(on)) return false
  const { jobs, triggers, except } = rule
  if (job !== null && except.jobs.includes(job)) return false
  if (trigger !== null && except.triggers.includes(trigger)) return false
  if (jobs === null && triggers === null) return true
  return fits(jobs, job) || fits(triggers, trigger)
}

function fits(patterns: readonly string[] | null, name: string | null): boolean {
  return name !== null && (patterns ?? []).some((pattern) => isLike(name, pattern))
}

/** Whether a text contains the parts of a pattern between its stars, in order. Not a regular expression, which a name could make slow. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}

/** The alerts of all sources. */
export async function readAllAlerts(store: Store): Promise<readonly SourceAlerts[]> {
  const entries = await store.stateEntries({ kind: 'alert-rules', limit: 1000 })
  return entries.map(({ name, value }) => ({ source: name, ...(value as unknown as StoredAlerts) }))
}

/** Makes the rules of a source in the store equal to these, and tells the store which notices to write. */
export async function writeAlerts(
  store: Store,
  { source, alerts, now }: { readonly source: string; readonly alerts: StoredAlerts; readonly now: Instant },
): Promise<void> {
  const isEmpty = alerts.rules.length === 0 && Object.keys(alerts.channels).length === 0
  const kinds = alertKinds.filter((kind) => alerts.rules.some(({ on }) => on.includes(kind)))
  for (;;) {
    const [rules] = await store.stateEntries({ kind: 'alert-rules', names: [source], items: [''], limit: 1 })
    const [watch] = await store.stateEntries({ kind: 'alert', names: [watchKey.name], items: [''], limit: 1 })
    if (isEmpty && rules === undefined) return
    const { [source]: _, ...others } = (watch?.value ?? {}) as Record<string, Json>
    const watched = kinds.length === 0 ? others : { ...others, [source]: kinds }
    const changes: StateChange[] = [
      {
        kind: 'alert-rules',
        name: source,
        item: '',
        revision: rules?.revision ?? 0,
        value: isEmpty ? undefined : (alerts as unknown as Json),
      },
      {
        ...watchKey,
        revision: watch?.revision ?? 0,
        value: Object.keys(watched).length === 0 ? undefined : watched,
      },
    ]
    const isSame = changes.every(({ value }, index) => {
      return JSON.stringify(value) === JSON.stringify([rules, watch][index]?.value)
    })
    if (isSame || (await store.changeState({ changes, now })) === 'changed') return
  }
}
