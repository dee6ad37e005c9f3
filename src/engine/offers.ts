import type { ScheduleSpec } from '../model/schedule.js'
import type { RunId } from '../model/identity.js'
import type { Run } from '../model/run.js'
import { taskOf } from '../model/task.js'
import type { Store } from '../store/store.js'
import { formatDuration } from '../time/duration.js'
import { formatInstant, type Instant } from '../time/instant.js'
import type { Events, OfferedRun } from './events.js'
import type { Look } from './loop.js'

/** What offering runs needs. */
export interface OffersOptions {
  readonly store: Store
  readonly now: () => Instant
  readonly events: Events
  /** How long a run may be claimable before it is offered, and how often it is offered again. */
  readonly offerAfterMs: number
}

/** How often it looks while a run becomes old enough to be offered. */
const looks = 4

/** How many runs one look offers; whoever takes one gets the most urgent of its job anyway. */
const mostOffers = 200

/** How many pages of waiting runs one look reads. */
const mostPages = 10

/** Looks for runs that could have been claimed for some time and were not, and offers them to whoever listens. */
export class Offers {
  readonly #options: OffersOptions
  /** What was offered and still waits. */
  #offered = new Map<RunId, { readonly at: Instant; readonly times: number }>()

  constructor(options: OffersOptions) {
    this.#options = options
  }

  async step(): Promise<Look> {
    const { events, offerAfterMs } = this.#options
    const now = this.#options.now()
    const before = this.#offered
    this.#offered = new Map()
    for (const run of await this.#waiting(now)) {
      const last = before.get(run.run)
      const isDue = last === undefined || last.at + offerAfterMs <= now
      const offer = isDue ? { at: now, times: (last?.times ?? 0) + 1 } : last
      this.#offered.set(run.run, offer)
      if (isDue) events.emit('run:offered', { ...run, times: offer.times })
    }
    return { afterMs: offerAfterMs / looks }
  }

  async #waiting(now: Instant): Promise<readonly Waiting[]> {
    const { store, offerAfterMs } = this.#options
    const untilAt = now - offerAfterMs
    const waiting = await claimableSince(store, untilAt)
    if (waiting.length === 0) return []
    const held = await heldJobs(store, now)
    const schedules = await schedulesOf(store, waiting)
    return waiting
      .filter((run) => !held(run.job))
      .map((run) => offerOf(run, { schedule: schedules.get(run.trigger ?? ''), now }))
      .toSorted((a, b) => a.dueAt - b.dueAt)
  }
}

/** Runs that could have been claimed all the time since an instant; those that wait for a limit could not. */
async function claimableSince(store: Store, untilAt: Instant): Promise<readonly Run[]> {
  const found: Run[] = []
  let before: RunId | undefined
  for (let page = 0; page < mostPages && found.length < mostOffers; page++) {
    const pending = await store.runs({ state: 'pending', untilAt, limit: mostOffers, before })
    found.push(...pending.filter((run) => run.runAt <= untilAt && run.waitsFor === undefined))
    before = pending.at(-1)?.id
    if (pending.length < mostOffers) break
  }
  return found
}

type Waiting = Omit<OfferedRun, 'times'>

function offerOf(run: Run, { schedule, now }: { schedule: string | undefined; now: Instant }): Waiting {
  const { id, job, trigger, attempt, dueAt, runAt } = run
  return { run: id, job, trigger, attempt, dueAt, schedule, task: taskOf(run), waitedMs: now - runAt }
}

/** Tells which jobs nobody may claim now, so that nobody is asked to. */
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
