import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Run } from '../../kernel/run/run.js'
import { taskOf } from '../../kernel/run/task.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { formatDuration } from '../../time/duration.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Events, OfferedRun } from '../../engine/events.js'
import type { Look } from '../../engine/loop.js'

/** What offering runs needs. */
export interface OffersOptions {
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  /** How long a run may be claimable before it is offered, and how often it is offered again. */
  readonly offerAfterMs: number
  /** The interval of the slow poll. */
  readonly pollMs: number
}

/** How many runs one step offers; a claim gives the most urgent run of the job anyway. */
const mostOffers = 200

/** How many pages of pending runs one step reads. */
const mostPages = 10

/** The shortest pause between two steps, however often it is woken. */
const leastRestMs = 10

/**
 * Finds runs that have been claimable for some time, and offers them to listeners. The runs stay in the store, so that
 * an offer that nobody heard is repeated. A step also finds the runs to offer before the next slow poll, and the next
 * step comes at that instant.
 */
export class Offers {
  readonly #options: OffersOptions
  /** The runs that were offered and are still pending. */
  #offered = new Map<RunId, { readonly at: Instant; readonly times: number }>()
  #restUntilMs = -Infinity

  constructor(options: OffersOptions) {
    this.#options = options
  }

  async step(): Promise<Look> {
    const { clock, offerAfterMs, pollMs } = this.#options
    const restMs = this.#restUntilMs - clock.monotonicMs()
    if (restMs > 0) return { afterMs: restMs }
    const now = this.#options.now()
    const { runs, areMany } = await this.#claimable(now)
    await this.#offer(runs, now)
    const nextAt = Math.min(...runs.map((run) => this.#offerAt(run)).filter((at) => at > now))
    const leastMs = Math.max(leastRestMs, offerAfterMs / (areMany ? 4 : 100))
    this.#restUntilMs = clock.monotonicMs() + leastMs
    return { afterMs: Math.max(leastMs, Math.min(areMany ? leastMs : nextAt - now, pollMs)) }
  }

  /** Claimable runs to offer before the next slow poll; if there are many, only those to offer now. */
  async #claimable(now: Instant): Promise<{ runs: readonly Run[]; areMany: boolean }> {
    const { store, offerAfterMs, pollMs } = this.#options
    const untilAt = now - offerAfterMs
    const pending = await store.runs({ state: 'pending', untilAt: untilAt + pollMs, limit: mostOffers })
    const areMany = pending.length === mostOffers
    const runs = areMany ? await claimableSince(store, untilAt) : pending.filter(isClaimable)
    return { runs, areMany }
  }

  async #offer(runs: readonly Run[], now: Instant): Promise<void> {
    const { store, events } = this.#options
    const due = runs.filter((run) => this.#offerAt(run) <= now)
    const held = due.length === 0 ? () => false : await heldJobs(store, now)
    const free = due.filter(({ job }) => !held(job)).toSorted((a, b) => a.dueAt - b.dueAt)
    const schedules = await schedulesOf(store, free)
    const before = this.#offered
    this.#offered = new Map()
    for (const { id } of runs) {
      const last = before.get(id)
      if (last !== undefined) this.#offered.set(id, last)
    }
    for (const run of free) {
      const times = (before.get(run.id)?.times ?? 0) + 1
      this.#offered.set(run.id, { at: now, times })
      const schedule = schedules.get(run.trigger ?? '')
      events.emit('run:offered', { ...offerOf(run, { schedule, now }), times })
    }
  }

  #offerAt({ id, runAt }: Run): Instant {
    return Math.max(runAt, this.#offered.get(id)?.at ?? runAt) + this.#options.offerAfterMs
  }
}

/** Whether no limit prevents a claim. */
function isClaimable({ waitsFor }: Run): boolean {
  return waitsFor === undefined
}

/** Runs that have been claimable since an instant. */
async function claimableSince(store: Store, untilAt: Instant): Promise<readonly Run[]> {
  const found: Run[] = []
  let before: RunId | undefined
  for (let page = 0; page < mostPages && found.length < mostOffers; page++) {
    const pending = await store.runs({ state: 'pending', untilAt, limit: mostOffers, before })
    found.push(...pending.filter((run) => run.runAt <= untilAt && isClaimable(run)))
    before = pending.at(-1)?.id
    if (pending.length < mostOffers) break
  }
  return found
}

function offerOf(
  run: Run,
  { schedule, now }: { schedule: string | undefined; now: Instant },
): Omit<OfferedRun, 'times'> {
  const { id, job, trigger, attempt, dueAt, runAt } = run
  return {
    run: id,
    job,
    trigger,
    attempt,
    dueAt,
    schedule,
    task: taskOf({ ...run, run: id }),
    waitedMs: now - runAt,
  }
}

/** Which jobs are held, so that nobody may claim their runs. */
async function heldJobs(store: Store, now: Instant): Promise<(job: string) => boolean> {
  const open = new Set((await store.holds({ openAt: now })).map(({ target }) => target as string))
  if (['all', 'switch:worker', 'switch:pipeline'].some((target) => open.has(target))) return () => true
  if (open.size === 0) return () => false
  const queues = new Map((await store.jobs()).map(({ job }) => [job.name, job.queue]))
  return (job) => open.has(`queue:${queues.get(job) ?? ''}`)
}

async function schedulesOf(store: Store, runs: readonly Run[]): Promise<ReadonlyMap<string, string>> {
  const names = [...new Set(runs.flatMap(({ trigger }) => trigger ?? []))]
  const triggers = names.length === 0 ? [] : await store.triggers({ names })
  return new Map(triggers.map(({ trigger }) => [trigger.name, scheduleText(trigger.schedule)]))
}

function scheduleText(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case 'cron':
      return schedule.expression
    case 'interval':
    case 'after-finish':
      return `every ${formatDuration(schedule.everyMs)}`
    case 'once':
      return `at ${formatInstant(schedule.at)}`
    case 'sensor':
      return `sensor ${schedule.type}`
    case 'upstream':
      return `after ${schedule.assets.join(', ')}`
  }
}
