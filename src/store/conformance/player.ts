import { expect } from 'vitest'
import type { RunId } from '../../kernel/identity/identity.js'
import { decide, type AttemptResult, type Outcome } from '../../kernel/run/outcome.js'
import type { ConcurrencySlot, NewRun } from '../../kernel/run/run.js'
import { scheduleOf } from '../../kernel/trigger/schedule.js'
import { planTick, type Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { Claim, DefineTrigger, Finished, Store } from '../port.js'
import type { AuditSubject, ChangeRecord } from '../../kernel/audit/audit.js'
import { recordOf } from './cases/audit.js'
import type { Operation, RandomRun, RandomTurn } from './operation.js'
import { tickOf } from './follower-tick.js'
import { assetOf, at, jobNames, overlaps, scheduleOfShape, storyAt, targets, triggerNames } from './names.js'
import { aJob, aTrigger, isComputed, moveFacts, type OpenedStore, type OpenStore } from './stage.js'
import { openModel } from './effects.js'
import { newRandomRun } from './random-run.js'

const leaseMs = 180_000

/** Plays operations on two stores at once and compares every answer. */
export class Player {
  readonly model: Store
  real: Store
  now: Instant = storyAt
  readonly runs: RunId[] = []
  /** The concurrency limits that each run was inserted with. */
  readonly slots = new Map<RunId, readonly ConcurrencySlot[]>()
  readonly triggers = triggerNames
  readonly #open: OpenStore
  #opened: OpenedStore
  readonly #workers: string[] = []
  readonly #claims: (Claim & { worker: string })[] = []
  #lastTicks: readonly Tick[] = []
  #count = 0

  constructor(options: { model: Store; opened: OpenedStore; open: OpenStore }) {
    this.model = options.model
    this.real = options.opened.store
    this.#opened = options.opened
    this.#open = options.open
  }

  /** Closes the current store. */
  async dispose(): Promise<void> {
    await this.#opened.dispose()
  }

  /** Defines the jobs and triggers that every story starts with. */
  async begin(): Promise<void> {
    for (const [i] of jobNames.entries()) await this.play({ kind: 'job', job: i, limits: [i * 2, 1, i % 2] })
    await this.play({ kind: 'register' })
    await this.play({ kind: 'register' })
  }

  async play(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'wait':
        this.now += operation.ms
        return
      case 'job':
        return await this.#defineJob(operation)
      case 'queue':
        return await this.#defineQueue(operation.concurrency)
      case 'trigger':
        return await this.#defineTrigger(operation)
      case 'end':
        return await this.#endTrigger(operation)
      case 'plan':
        return await this.#plan(operation.limit)
      case 'plan-again':
        await this.both((store) => store.tick(this.#lastTicks))
        return
      case 'enqueue':
        return await this.#enqueue(operation.runs)
      case 'register':
      case 'heartbeat':
      case 'retire':
      case 'drain':
        return await this.#moveWorker(operation)
      case 'turn':
        return await this.#turn(operation)
      case 'late':
        return await this.#reportLate(operation.claim)
      case 'expire':
        return await this.#expire(operation)
      case 'cancel':
      case 'retry':
      case 'advance':
        return await this.#moveRun(operation)
      case 'hold':
      case 'release':
        return await this.#moveHold(operation)
      case 'prune': {
        const { ageMs, limit, isNamed } = operation
        const ended = await this.both((store) => store.endedRuns({ after: undefined, limit }))
        const runs = isNamed ? ended.filter((_, index) => index % 2 === 0).map(({ id }) => id) : undefined
        await this.both((store) => store.prune({ before: this.now - ageMs, limit, now: this.now, runs }))
        await this.both((store) => store.pruneAudit({ before: this.now - ageMs, keep: 20, limit }))
        return
      }
      case 'log':
        return await this.#log(operation.run)
      case 'note':
        return await this.#note(operation)
      case 'forget':
        for (const trigger of triggerNames)
          await this.both((store) => store.forgetSeen({ trigger, limit: operation.limit }))
        return
      case 'remove-job':
        await this.both((store) => store.removeJobs([at(jobNames, operation.job)]))
        return
      case 'reopen':
        this.real = await this.#opened.reopen()
        return
      case 'move':
        return await this.#move()
    }
  }

  /** Calls both stores and compares the answers. */
  async both<T>(ask: (store: Store) => Promise<T>): Promise<T> {
    const expected = await ask(this.model)
    const answer = await ask(this.real)
    expect(answer).toEqual(expected)
    return expected
  }

  /** Continues the story in a store that receives the facts of the previous one through a memory store. */
  async #move(): Promise<void> {
    const between = openModel()
    await moveFacts(this.real, between)
    const fresh = await this.#open()
    await moveFacts(between, fresh.store)
    await this.#opened.dispose()
    this.#opened = fresh
    this.real = fresh.store
  }

  async #defineJob({ job, limits }: Extract<Operation, { kind: 'job' }>): Promise<void> {
    const [concurrency, concurrencyPerKey, queue] = limits
    const definition = aJob(at(jobNames, job), {
      concurrency: concurrency === 0 ? undefined : concurrency,
      concurrencyPerKey,
      queue: queue === 0 ? 'default' : 'q',
      retry: { attempts: 3, backoff: 'constant', delayMs: 7000, maxDelayMs: 7000, jitter: 0 },
      asset: assetOf(at(jobNames, job)),
      ...(queue === 2 ? { deadLetter: 'other' } : {}),
      ...(concurrency === 2 ? { limit: { max: 3, perMs: 20_000, burst: concurrencyPerKey } } : {}),
      ...(concurrency === 3 ? { limitPerKey: { max: 2, perMs: 15_000, burst: concurrencyPerKey } } : {}),
    })
    await this.both((store) =>
      store.defineJobs({ source: 'code:test', jobs: [definition], queues: [], now: this.now }),
    )
  }

  async #defineQueue(limit: number): Promise<void> {
    const rate = limit === 2 ? { limit: { max: 4, perMs: 10_000, burst: 2 } } : {}
    const queues = [{ name: 'q', concurrency: limit === 0 ? undefined : limit, ...rate }]
    await this.both((store) => store.defineJobs({ source: 'code:test', jobs: [], queues, now: this.now }))
  }

  async #defineTrigger({ trigger, shape, overlap }: Extract<Operation, { kind: 'trigger' }>): Promise<void> {
    const name = at(triggerNames, trigger)
    const definition = aTrigger(name, {
      job: at(jobNames, shape),
      schedule: scheduleOfShape(shape, this.now),
      overlap: at(overlaps, overlap),
      catchUp: {
        mode: at(['all', 'latest', 'skip'], shape),
        maxAgeMs: undefined,
        maxRuns: 3,
        graceMs: 10_000,
      },
      priority: shape % 3 === 0 ? 1 : undefined,
      ...(shape % 4 === 0 ? { pauseAfter: 2 } : {}),
    })
    await this.#writeTrigger(name, {
      trigger: definition,
      nextAt: this.#firstLook(definition),
      cancelPending: false,
    })
  }

  #firstLook(trigger: Trigger): Instant | undefined {
    const { schedule } = trigger
    if (schedule.kind === 'after-finish' || schedule.kind === 'sensor') return this.now + schedule.everyMs
    return scheduleOf(trigger.schedule).next(this.now)
  }

  async #endTrigger({ trigger, cancelPending }: Extract<Operation, { kind: 'end' }>): Promise<void> {
    const name = at(triggerNames, trigger)
    const [current] = await this.model.triggers({ names: [name] })
    if (current?.active !== true) return
    await this.#writeTrigger(name, { trigger: undefined, nextAt: undefined, cancelPending })
  }

  async #writeTrigger(
    name: string,
    change: Pick<DefineTrigger, 'trigger' | 'nextAt' | 'cancelPending'>,
  ): Promise<void> {
    const [due] = await this.both((store) => store.dueByName({ names: [name], now: this.now }))
    const isPlanned = due?.active === true && isComputed(due.trigger)
    const item: DefineTrigger = {
      name,
      source: 'code:test',
      revision: due?.revision ?? 0,
      now: this.now,
      fingerprint: `${name} ${this.#count++}`,
      tzdata: '2026a',
      closing: isPlanned ? planTick(due, this.now) : undefined,
      cursorAt: this.now,
      ...change,
    }
    await this.both((store) => store.defineTriggers([item]))
    this.#remember(item.closing?.runs ?? [])
  }

  async #plan(limit: number): Promise<void> {
    const due = await this.both((store) => store.due({ now: this.now, limit }))
    const polls = await this.both((store) => store.due({ now: this.now, limit, sensors: ['a', 'b', 'd'] }))
    const taking = { now: this.now, limit: 1 + (this.#count++ % 3) }
    const ticks = [
      ...(await Promise.all(due.map((trigger) => tickOf(this.model, trigger, taking)))),
      ...polls.map((trigger) => this.#poll(trigger)),
    ]
    await this.both((store) => store.tick(ticks))
    this.#remember(ticks.flatMap((tick) => tick.runs))
    this.#lastTicks = ticks
  }

  /** A poll with a new observation, which is remembered for a while or forever. */
  #poll(due: DueTrigger): Tick {
    const seen = [
      { digest: String(this.#count++ % 7), untilAt: this.#count % 2 ? this.now + 20_000 : undefined },
    ]
    return { ...planTick(due, this.now), nextAt: this.now + 9000, seen }
  }

  async #note({ name, revision, value }: Extract<Operation, { kind: 'note' }>): Promise<void> {
    const key = { kind: 'service', name: at(jobNames, name), item: '' } as const
    const expected = revision === 3 ? undefined : revision
    const timing = { lastRunAt: null, everyMs: value, inFlight: null }
    const change = { ...key, revision: expected, value: value === 0 ? undefined : timing }
    await this.both((store) => store.changeState({ changes: [change], now: this.now }))
  }

  async #enqueue(wanted: readonly RandomRun[]): Promise<void> {
    const jobs = (await this.model.jobs()).map(({ job }) => job)
    const runs = wanted.map((run) => newRandomRun(run, { jobs, now: this.now, count: this.#count++ }))
    const answers = await this.both((store) => store.enqueue({ runs, now: this.now }))
    this.#remember(runs.filter((_, i) => answers[i]?.created))
  }

  #remember(runs: readonly NewRun[]): void {
    for (const { id, slots } of runs) {
      if (this.slots.has(id)) continue
      this.runs.push(id)
      this.slots.set(id, slots)
    }
  }

  async #moveWorker(
    operation: Extract<Operation, { kind: 'register' | 'heartbeat' | 'retire' | 'drain' }>,
  ): Promise<void> {
    const { now } = this
    if (operation.kind === 'register') {
      const id = `w${this.#workers.length}`
      this.#workers.push(id)
      const process = { host: 'h', pid: 1, version: '0', roles: ['scheduler', 'worker'], slots: 3 }
      await this.both((store) => store.register({ id, ...process, now, leaseMs }))
      return
    }
    const worker = at(this.#workers, operation.worker)
    if (operation.kind === 'heartbeat') await this.both((store) => store.heartbeat({ worker, now, leaseMs }))
    else if (operation.kind === 'retire') await this.both((store) => store.retire({ worker, now }))
    else await this.both((store) => store.drain({ worker, isDraining: operation.isDraining }))
  }

  async #turn({ worker: index, ends, slots, prefetch, prefetchLimited, jobs }: RandomTurn): Promise<void> {
    const worker = at(this.#workers, index)
    const own = this.#claims.filter((claim) => claim.worker === worker)
    const finished = own.length === 0 ? [] : ends.map(({ claim, how }) => this.#end(at(own, claim), how))
    const claimRequest = { jobs: jobNames.slice(0, jobs), slots, prefetch, prefetchLimited }
    const request = {
      worker,
      now: this.now,
      finished,
      claimRequest: jobs === 0 && slots === 0 ? undefined : claimRequest,
    }
    const { claims } = await this.both((store) => store.turn(request))
    this.#claims.push(...claims.map((claim) => ({ ...claim, worker })))
  }

  #end(claim: Claim, how: number): Finished {
    const { run, attempt } = claim
    return { run, attempt, outcome: this.#outcome(claim, how), startedAt: claim.claimedAt, endedAt: this.now }
  }

  #outcome(claim: Claim, how: number): Outcome {
    const error = { code: 'X', message: 'x' }
    const results: readonly AttemptResult[] = [
      { kind: 'done', result: { how } },
      { kind: 'failed', error, advice: {} },
      { kind: 'timed-out', error },
      { kind: 'released' },
      { kind: 'cancelled', error },
      { kind: 'done', result: undefined },
    ]
    const run = { id: claim.run, dueAt: claim.dueAt, failures: claim.failures, crashes: claim.crashes }
    const delays = { delayMs: how * 1000, maxDelayMs: 9000, jitter: 0 } as const
    const retry = { attempts: 3, backoff: 'constant', ...delays } as const
    return decide(at(results, how), { run, job: { retry, maxCrashes: 3 }, now: this.now })
  }

  async #reportLate(index: number): Promise<void> {
    const claim = this.#claims[index % Math.max(1, this.#claims.length)]
    if (claim === undefined) return
    const finished = [this.#end(claim, 0)]
    await this.both((store) =>
      store.turn({ worker: claim.worker, now: this.now, finished, claimRequest: undefined }),
    )
  }

  async #expire({ beforeMs, limit, settle }: Extract<Operation, { kind: 'expire' }>): Promise<void> {
    const { now } = this
    const lost = await this.both((store) => store.expire({ now, deadline: now - beforeMs, limit }))
    if (!settle) return
    const finished = lost.map(({ run, dueAt, attempt, failures, crashes, job }) => {
      const error = { code: 'LOST', message: 'gone' }
      const outcome = decide(
        { kind: 'lost', error },
        { run: { id: run, dueAt, failures, crashes }, job, now },
      )
      return { run, attempt, outcome, startedAt: undefined, endedAt: now }
    })
    await this.both((store) =>
      store.turn({ worker: at(this.#workers, 0), now, finished, claimRequest: undefined }),
    )
  }

  async #moveRun({
    kind,
    run: index,
  }: Extract<Operation, { kind: 'cancel' | 'retry' | 'advance' }>): Promise<void> {
    // Counted from the newest: old ones are mostly final or pruned.
    const run = this.runs.at(-1 - (index % Math.max(1, this.runs.length)))
    if (run === undefined) return
    const { now } = this
    const record = this.#recordOf(`run.${kind}`, { kind: 'run', id: run })
    if (kind === 'cancel')
      await this.both((store) => store.audited(record).cancel({ run, now, reason: 'asked' }))
    else if (kind === 'retry') await this.both((store) => store.audited(record).retry({ run, now }))
    else await this.both((store) => store.audited(record).advance({ run, now }))
  }

  async #moveHold(operation: Extract<Operation, { kind: 'hold' | 'release' }>): Promise<void> {
    const target = at(targets, operation.target)
    const { now } = this
    const record = this.#recordOf(operation.kind, { kind: 'hold', target })
    if (operation.kind === 'release') {
      await this.both((store) => store.audited(record).release({ target, now, catchUp: operation.catchUp }))
      return
    }
    const untilAt = operation.forMs === 0 ? undefined : now + operation.forMs
    await this.both((store) => store.audited(record).hold({ target, now, untilAt, actor: 'me', note: '' }))
  }

  /** Each change of a story has an entry of its own. */
  #recordOf(action: string, subject: AuditSubject): ChangeRecord {
    this.#count += 1
    return recordOf(action, [subject], { id: `change ${this.#count}`, at: this.now })
  }

  async #log(index: number): Promise<void> {
    const run = this.runs[index % Math.max(1, this.runs.length)]
    if (run === undefined) return
    const line = { run, attempt: 1, at: this.now, level: 'info', text: 'x'.repeat(index) } as const
    await this.both((store) => store.log([line, line]))
  }
}
