/**
 * From notices to the runs that send messages. Each step is one change of state entries that compares revisions, so if
 * two processes do it, one is refused, and after a kill the next step continues from the stored entries:
 *
 *   notice ─▶ counted in the entry of its rule and subject ─▶ outgoing message ─▶ one run for each channel ─▶ gone
 *
 * The ids of the runs follow from the message, so a message that is processed again makes no second run.
 */
import type { FeatureLoop, FeatureLoopContext, RunningLoop } from '../../engine/feature-loop.js'
import type { Look } from '../../engine/loop.js'
import { alertJobPrefix, newNotices, type AlertNotice } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import { randomRunId, runIdOf } from '../../kernel/identity/identity.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import { recoveries } from './recovery.js'
import { afterSending, isOver, isWaiting, nothingKnown, subjectOf, withNotice, type About } from './groups.js'
import { messageOf, payloadOf, type AlertMessage } from './message.js'
import { concerns, readAllAlerts, type SourceAlerts, type StoredRule } from './rules.js'

/** How many notices and messages one step reads, and how many entries one query reads. */
const mostNotices = 200
const entriesPerPage = 1000
const mostOutgoing = 50

/** How long the loop sleeps if it found nothing; the slow poll wakes it earlier. */
const restMs = 60_000

/** How many jobs and triggers one message is about at most. */
const mostInMessage = 500

/** How long a process waits if another one works on the same entries. */
const otherAtItMs = 50

/** How often the loop searches for recoveries without an event in this process. */
const recoveryMs = 15_000

/** Sends alerts, in every process with the scheduler role. */
export const alertLoop: FeatureLoop = {
  name: 'alerts',
  begin: (context) => new AlertLoop(context),
}

/** The name of the entries of subjects, and of messages that are on their way. */
const aboutName = 'about'
const outgoingName = 'outgoing'

/** A message that has left its entries and is not yet enqueued everywhere. */
interface Outgoing {
  readonly at: Instant
  readonly message: AlertMessage
  readonly channels: readonly string[]
}

/** The entry of a subject with its place in the store. */
export interface StoredAbout {
  readonly item: string
  readonly revision: number
  readonly source: string
  readonly rule: string
  readonly subject: string
  readonly about: About
}

/** The entries of all subjects that a message is due about, that are quiet or that fail. */
export async function readAbouts(store: Store): Promise<readonly StoredAbout[]> {
  const found: StoredAbout[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? undefined : { name: aboutName, item: last.item }
    const page = await store.stateEntries({ kind: 'alert', names: [aboutName], after, limit: entriesPerPage })
    found.push(...page.map(aboutOf))
    if (page.length < entriesPerPage) return found
  }
}

function aboutOf({ item, revision, value }: StateEntry): StoredAbout {
  const [source, rule, subject] = JSON.parse(item) as [string, string, string]
  return { item, revision, source, rule, subject, about: value as unknown as About }
}

class AlertLoop implements RunningLoop {
  readonly #context: FeatureLoopContext
  readonly #stopListening: () => void
  /** Jobs and triggers with a run of this process that was done since the last step. */
  #done = new Set<string>()
  #recoveryAt: Instant = 0

  constructor(context: FeatureLoopContext) {
    this.#context = context
    this.#stopListening = context.events.on('run:ended', ({ state, job, trigger }) => {
      if (state === 'done') this.#done.add(trigger ?? job)
      else if (state === 'failed') context.wake()
    })
  }

  async step(): Promise<Look> {
    const { store, guard } = this.#context
    const now = guard.now()
    await this.#enqueueOutgoing(now)
    const notices = await store.stateEntries({ kind: 'alert', names: [newNotices], limit: mostNotices })
    const abouts = await readAbouts(store)
    if (notices.length === 0 && abouts.length === 0) {
      this.#done.clear()
      return { afterMs: restMs }
    }
    const alerts = await readAllAlerts(store)
    const told = await this.#recovered(abouts, now)
    const changes = [...this.#counted({ notices, told, abouts, alerts, now })]
    if (changes.length > 0) return await this.#change(changes, now)
    const leaving = this.#leaving(abouts, alerts, now)
    if (leaving.length > 0) return await this.#change(leaving, now)
    // Times in the past were handled above: one of them must not keep the loop spinning.
    const times = abouts.flatMap(({ about: { sendAt, quietUntil } }) => [sendAt ?? 0, quietUntil ?? 0])
    return { at: Math.min(...times.filter((at) => at > now), now + recoveryMs) }
  }

  async stop(): Promise<void> {
    this.#stopListening()
  }

  async #change(changes: readonly StateChange[], now: Instant): Promise<Look> {
    const answer = await this.#context.store.changeState({ changes, now })
    return { afterMs: answer === 'changed' ? 0 : otherAtItMs }
  }

  /** Records the runs of outgoing messages. A run that already exists stays as it is. */
  async #enqueueOutgoing(now: Instant): Promise<void> {
    const { store, onRuns } = this.#context
    const entries = await store.stateEntries({ kind: 'alert', names: [outgoingName], limit: mostOutgoing })
    if (entries.length === 0) return
    const jobs = new Set((await store.jobs()).map(({ job }) => job.name))
    for (const { item, value } of entries) {
      const outgoing = value as unknown as Outgoing
      const runs = outgoing.channels
        .map((channel) => runOf(outgoing, channel))
        .filter(({ job }) => jobs.has(job))
      if (runs.length > 0) await store.enqueue({ runs, now })
      await store.changeState({
        changes: [{ kind: 'alert', name: outgoingName, item, value: undefined }],
        now,
      })
    }
    onRuns()
  }

  /** What has recovered since it failed: known from events of this process, and searched for from time to time. */
  async #recovered(abouts: readonly StoredAbout[], now: Instant): Promise<readonly AlertNotice[]> {
    const isTime = now >= this.#recoveryAt
    if (isTime) this.#recoveryAt = now + recoveryMs
    const failing = abouts.flatMap(({ about }) => about.failing ?? [])
    const asked = isTime
      ? failing
      : failing.filter(({ job, trigger }) => this.#done.has(trigger ?? job ?? ''))
    this.#done.clear()
    return asked.length === 0 ? [] : await recoveries(this.#context.store, asked)
  }

  /** Counts notices in the entries of their rules and subjects, and removes them. */
  *#counted(given: {
    readonly notices: readonly StateEntry[]
    readonly told: readonly AlertNotice[]
    readonly abouts: readonly StoredAbout[]
    readonly alerts: readonly SourceAlerts[]
    readonly now: Instant
  }): Iterable<StateChange> {
    const { notices, told, abouts, alerts, now } = given
    const known = new Map(abouts.map(({ item, about, revision }) => [item, { about, revision }]))
    const changed = new Map<string, About>()
    const note = (notice: AlertNotice, isMeant: (about: About | undefined) => boolean): void => {
      for (const { source, rules } of alerts) {
        for (const rule of rules) {
          if (!concerns(rule, notice)) continue
          const item = JSON.stringify([source, rule.name, subjectOf(notice)])
          const before = changed.get(item) ?? known.get(item)?.about
          if (isMeant(before)) changed.set(item, withNotice(before ?? nothingKnown, notice, rule, now))
        }
      }
    }
    for (const { value } of notices) note(value as unknown as AlertNotice, () => true)
    for (const recovery of told) note(recovery, (about) => (about?.failing?.at ?? Infinity) < recovery.at)
    for (const { item, revision } of notices) {
      yield { kind: 'alert', name: newNotices, item, revision, value: undefined }
    }
    for (const [item, about] of changed) {
      const revision = known.get(item)?.revision ?? 0
      yield { kind: 'alert', name: aboutName, item, revision, value: about as unknown as Json }
    }
  }

  /** The messages that are due, with the new values of their entries; and entries that can be deleted. */
  #leaving(abouts: readonly StoredAbout[], alerts: readonly SourceAlerts[], now: Instant): StateChange[] {
    const rules = new Map(
      alerts.flatMap(({ source, rules: some }) => some.map((rule) => [`${source} ${rule.name}`, rule])),
    )
    const byRule = new Map<string, StoredAbout[]>()
    const changes: StateChange[] = []
    for (const one of abouts) {
      const key = `${one.source} ${one.rule}`
      if (!rules.has(key) || isOver(one.about, now)) changes.push(changeOf(one, undefined))
      else if (isWaiting(one.about, now)) byRule.set(key, [...(byRule.get(key) ?? []), one])
    }
    for (const [key, waiting] of byRule) {
      if (!waiting.some(({ about }) => (about.sendAt ?? Infinity) <= now)) continue
      const rule = rules.get(key) as StoredRule
      const sent = waiting.slice(0, mostInMessage)
      const id = randomRunId(now)
      const message = messageOf(
        sent.map(({ about }) => about),
        { id, at: now, rule: rule.name },
      )
      const outgoing: Outgoing = { at: now, message, channels: rule.channels }
      changes.push({
        kind: 'alert',
        name: outgoingName,
        item: id,
        revision: 0,
        value: outgoing as unknown as Json,
      })
      for (const one of sent) changes.push(changeOf(one, afterSending(one.about, rule, now)))
    }
    return changes
  }
}

function changeOf({ item, revision }: StoredAbout, about: About | undefined): StateChange {
  return { kind: 'alert', name: aboutName, item, revision, value: about as unknown as Json | undefined }
}

function runOf({ at, message }: Outgoing, channel: string): NewRun {
  const job = `${alertJobPrefix}${channel}`
  const id = runIdOf({ at, parts: ['alert', message.id, channel] })
  return {
    id,
    job,
    origin: 'enqueue',
    dueAt: at,
    runAt: at,
    priority: 0,
    slots: [],
    payload: payloadOf(message),
  }
}
