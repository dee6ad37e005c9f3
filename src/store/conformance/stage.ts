import { expect, it } from 'vitest'
import { runIdOf, type RunId } from '../../kernel/identity/identity.js'
import { jobDefaults, type Job, type Queue } from '../../kernel/job/job.js'
import { slotsFor } from '../../kernel/identity/occurrence.js'
import type { Outcome } from '../../kernel/run/outcome.js'
import type { NewRun, Run } from '../../kernel/run/run.js'
import { planAfterFinish } from '../../engine/timed/after-finish.js'
import { planTick, type Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger, StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type {
  Claim,
  ClaimRequest,
  DefineAnswer,
  DefineTrigger,
  Finished,
  Store,
  TurnAnswer,
} from '../port.js'

/** An open store that can be reopened and disposed of. */
export interface OpenedStore {
  readonly store: Store
  /** Closes the store and opens it again with its data. */
  reopen(): Promise<Store>
  dispose(): Promise<void>
}

/** Opens an empty store. */
export type OpenStore = () => Promise<OpenedStore>

/** Declares one law, which is tested on a new store. */
export type Law = (sentence: string, prove: (stage: Stage) => Promise<void>) => void

/** Returns the function that declares laws for one adapter. */
export function lawsFor(open: OpenStore): Law {
  return (sentence, prove) =>
    it(sentence, async () => {
      const opened = await open()
      try {
        await prove(new Stage(opened))
      } finally {
        await opened.dispose()
      }
    })
}

/** Copies all facts of one store to another, in small pages. */
export async function moveFacts(from: Store, to: Store): Promise<void> {
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await from.facts({ after, limit: 7 })
    await to.takeFacts(page.facts)
    after = page.next
  }
}

/** Monday 2026-01-05, 00:00 UTC: the start of every law. */
export const t0: Instant = 1_767_571_200_000

/** One minute: the interval of the triggers here. */
export const minute = 60_000

/** A job with default options. */
export function aJob(name: string, given: Partial<Job> = {}): Job {
  return { ...jobDefaults, name, ...given }
}

/** A trigger that is due every minute on the minute, and whose runs may overlap. */
export function aTrigger(name: string, given: Partial<Trigger> = {}): Trigger {
  return {
    name,
    job: 'work',
    schedule: { kind: 'interval', everyMs: minute, anchorAt: t0 },
    payload: undefined,
    partition: undefined,
    catchUp: { mode: 'all', maxAgeMs: undefined, maxRuns: 100, graceMs: minute },
    overlap: 'allow',
    jitterMs: 0,
    spreadMs: 0,
    priority: undefined,
    enabled: true,
    ...given,
  }
}

/** A run of the job `work`, due at `t0`, whose id contains its label. */
export function aRun(label: string, given: Partial<NewRun> = {}): NewRun {
  const dueAt = given.dueAt ?? t0
  const id = runIdOf({ at: dueAt, parts: [label] })
  return { id, job: 'work', origin: 'enqueue', dueAt, runAt: dueAt, priority: 0, slots: [], ...given }
}

/** The outcomes of attempts. */
export const outcomes = {
  done: { end: 'done', state: 'done', result: { ok: true } },
  failed: { end: 'failed', state: 'failed', error: { code: 'HANDLER_FAILED', message: 'no' } },
  cancelled: { end: 'cancelled', state: 'cancelled', error: { code: 'CANCELLED', message: 'stopped' } },
  again: (runAt: Instant): Outcome => ({
    end: 'failed',
    state: 'pending',
    runAt,
    error: { code: 'HANDLER_FAILED', message: 'not yet' },
  }),
  lost: (runAt: Instant): Outcome => ({
    end: 'lost',
    state: 'pending',
    runAt,
    error: { code: 'LOST', message: 'gone' },
  }),
  released: (runAt: Instant): Outcome => ({ end: 'released', state: 'pending', runAt }),
} as const satisfies Record<string, Outcome | ((runAt: Instant) => Outcome)>

/** A store with the helper methods that laws need. */
export class Stage {
  store: Store
  readonly #opened: OpenedStore

  constructor(opened: OpenedStore) {
    this.store = opened.store
    this.#opened = opened
  }

  async reopen(): Promise<void> {
    this.store = await this.#opened.reopen()
  }

  async jobs(jobs: readonly Job[], queues: readonly Queue[] = []): Promise<void> {
    const conflicts = await this.store.defineJobs({ source: 'code:test', jobs, queues, now: t0 })
    expect(conflicts).toEqual([])
  }

  /** Defines a new trigger, or the next version of an existing one. */
  async trigger(trigger: Trigger, given: Partial<DefineTrigger> = {}): Promise<DefineAnswer> {
    const [current] = await this.store.triggers({ names: [trigger.name] })
    const [answer] = await this.store.defineTriggers([
      {
        name: trigger.name,
        source: 'code:test',
        revision: current?.revision ?? 0,
        now: t0,
        trigger,
        fingerprint: `print of ${trigger.name}`,
        tzdata: '2026a',
        closing: undefined,
        cursorAt: current?.cursorAt ?? t0,
        nextAt: current?.nextAt ?? t0 + minute,
        cancelPending: false,
        ...given,
      },
    ])
    return answer as DefineAnswer
  }

  async stored(name: string): Promise<StoredTrigger> {
    const [stored] = await this.store.triggers({ names: [name] })
    if (stored === undefined) throw new Error(`no trigger ${name}`)
    return stored
  }

  /** The trigger as a tick sees it. */
  async seen(name: string, now: Instant): Promise<DueTrigger> {
    const [due] = await this.store.dueByName({ names: [name], now })
    if (due === undefined) throw new Error(`no trigger ${name}`)
    return due
  }

  /** Plans a trigger up to an instant and commits the tick. */
  async tick(name: string, now: Instant, given: Partial<Tick> = {}): Promise<Tick> {
    const tick = { ...planOf(await this.seen(name, now), now), ...given }
    expect(await this.store.tick([tick])).toEqual(['ticked'])
    return tick
  }

  async enqueue(runs: readonly NewRun[], now: Instant = t0): Promise<void> {
    const answers = await this.store.enqueue({ runs, now })
    expect(answers.map((answer) => answer.created)).toEqual(runs.map(() => true))
  }

  async worker(id: string, now: Instant = t0, leaseMs = 60 * minute): Promise<void> {
    await this.store.register({ id, host: 'here', pid: 1, version: '0', now, leaseMs })
  }

  async turn(worker: string, now: Instant, finished: readonly Finished[] = []): Promise<TurnAnswer> {
    return await this.store.turn({ worker, now, finished, claimRequest: undefined })
  }

  /** Claims runs for a worker; default: runs of all jobs. */
  async claim(
    worker: string,
    now: Instant,
    { slots = 10, prefetch = 0, prefetchLimited, jobs }: Partial<ClaimRequest> = {},
  ): Promise<readonly Claim[]> {
    const wanted = jobs ?? (await this.store.jobs()).map(({ job }) => job.name)
    const answer = await this.store.turn({
      worker,
      now,
      finished: [],
      claimRequest: { jobs: wanted, slots, prefetch, prefetchLimited },
    })
    return answer.claims
  }

  /** The `runAt` of the next delayed run. */
  async nextRunAt(worker: string, now: Instant): Promise<Instant | undefined> {
    return (await this.turn(worker, now)).nextRunAt
  }

  /** Claims one run; fails if there is none. */
  async claimOne(worker: string, now: Instant): Promise<Claim> {
    const [claim] = await this.claim(worker, now, { slots: 1 })
    if (claim === undefined) throw new Error('nothing to claim')
    return claim
  }

  /** Finishes an attempt; returns whether the result was stored. */
  async finish(
    worker: string,
    claim: Pick<Claim, 'run' | 'attempt'>,
    end: { outcome: Outcome; at: Instant; startedAt?: Instant },
  ): Promise<'stored' | 'stale' | undefined> {
    const { outcome, at, startedAt } = end
    const finished = [{ run: claim.run, attempt: claim.attempt, outcome, startedAt, endedAt: at }]
    return (await this.turn(worker, at, finished)).finished[0]
  }

  async run(id: RunId): Promise<Run> {
    const run = await this.store.run(id)
    if (run === undefined) throw new Error(`no run ${id}`)
    return run
  }

  async states(runs: readonly { id: RunId }[]): Promise<string[]> {
    return await Promise.all(runs.map(async ({ id }) => (await this.run(id)).state))
  }

  /** Defines the job `work` and registers the worker `w`, which most laws need. */
  async ready(job: Partial<Job> = {}, leaseMs?: number): Promise<void> {
    await this.jobs([aJob('work', job)])
    await this.worker('w', t0, leaseMs)
  }
}

/** A run with the concurrency limits of its job. */
export function aRunOf(
  job: Job,
  label: string,
  given: Partial<NewRun> & { concurrencyKey?: string } = {},
): NewRun {
  const { concurrencyKey, ...rest } = given
  return aRun(label, { job: job.name, slots: slotsFor({ job, concurrencyKey }), ...rest })
}

/** The tick of a trigger whose due instants need no facts. */
export function planOf(due: DueTrigger, now: Instant): Tick {
  return due.trigger.schedule.kind === 'after-finish' ? planAfterFinish(due, now) : planTick(due, now)
}

/** Whether the due instants of a trigger follow from its definition alone. */
export function isComputed({ schedule }: Trigger): boolean {
  return ['cron', 'interval', 'once'].includes(schedule.kind)
}
