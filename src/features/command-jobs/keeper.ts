import type { Events } from '../../engine/events.js'
import { Loop, type Look } from '../../engine/loop.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { isFinal } from '../../kernel/run/run.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { someIds, performOperation } from '../../engine/operations.js'
import type { CommandJobs } from './command-jobs.js'
import { bindCommands, removeUnclaimedJobs } from './performers.js'
import { executedRecords } from './store-jobs.js'
import type { JobsText } from './jobs-file.js'
import { syncJobsFile, type JobsPlace, type Synced } from './sync-file.js'

/** What the keeper of command jobs needs. */
export interface JobsKeeperOptions {
  readonly jobs: CommandJobs
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** Called when jobs may have changed, so that the scheduler checks immediately. */
  readonly onChange: () => void
}

/** A line that another program adds is noticed within this time. */
const lookMs = 30_000
const soonMs = 5000
const dayMs = 86_400_000
/** The codes of errors of a file or its disk. */
const fileCodes: ReadonlySet<string> = new Set(['JOBS_INVALID', 'STORE_FULL'])
/** A failed cleanup is tried again after this time. */
const againMs = 3_600_000

/** Keeps the store equal to a jobs file, assigns commands to jobs, and cleans up once a day. */
export class JobsKeeper {
  readonly #options: JobsKeeperOptions
  readonly #loop: Loop
  readonly #unlisten: () => void
  #synced: Synced | undefined
  /** The version of the file at the last check, and since when it has been seen. */
  #seen = { version: '', sinceMs: 0 }
  #boundTo: string | undefined
  #cleanupAt: Instant = 0
  readonly #told = new Map<string, string>()

  constructor(options: JobsKeeperOptions) {
    this.#options = options
    const { clock, events } = options
    const step = (): Promise<Look> => this.look()
    this.#loop = new Loop({ name: 'jobs', seed: 'jobs', clock, events, pollMs: this.#lookMs, step })
    this.#unlisten = events.on('run:ended', ({ trigger, state }) => {
      if (trigger !== undefined && isFinal(state) && this.#synced?.open.has(trigger) === true)
        this.#loop.wake()
    })
  }

  /** A file is checked often; without a file, hints and the slow poll are enough. */
  get #lookMs(): number {
    const { jobs, pollMs } = this.#options
    return jobs.place === undefined ? Math.max(lookMs, pollMs) : lookMs
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    this.#unlisten()
    await this.#loop.stop()
  }

  /** Checks once. A problem with the file is reported and blocks nothing else. */
  async look(): Promise<Look> {
    const { jobs } = this.#options
    const performers = (await jobs.store.jobs()).map(({ job, source }) => `${job.name} ${source}`).join('\n')
    const hasNewJobs = performers !== this.#boundTo
    const { place } = jobs
    if (place !== undefined) {
      await this.#guarded('file', () => this.#lookAtFile(place, hasNewJobs))
      await this.#guarded('rights', async () => {
        const warnings = jobs.fileWarnings()
        return warnings.length === 0 ? undefined : new RotaError('JOBS_INVALID', warnings.join('; '))
      })
    }
    if (hasNewJobs) await bindCommands(jobs.store, this.#options.now())
    this.#boundTo = performers
    await this.#guarded('cleanup', () => this.#cleanUp())
    return { afterMs: this.#synced?.isUnsettled === true ? soonMs : this.#lookMs }
  }

  /** Returns the error of the file, if it has one. */
  async #lookAtFile(place: JobsPlace, hasNewJobs: boolean): Promise<RotaError | undefined> {
    const { jobs, clock, now, onChange } = this.#options
    const before = this.#synced
    const version = await place.file.version()
    if (version !== this.#seen.version) this.#seen = { version, sinceMs: clock.monotonicMs() }
    const isSame =
      before !== undefined &&
      !before.isUnsettled &&
      !hasNewJobs &&
      version === before.version &&
      (await executedRecords(jobs.store, [...before.open])).size === 0
    if (isSame || (await this.#isUnused(place))) return before?.error
    this.#synced = await place.file.hold(() =>
      syncJobsFile(jobs.store, place, { now: now(), quietMs: (text) => this.#quietMs(text) }),
    )
    onChange()
    return this.#synced.error
  }

  /** The time of a file may be ahead of the clock, for example if the clock was set back. Then the time since this version was first seen counts. */
  #quietMs({ version, modifiedAt }: JobsText): number {
    if (modifiedAt === undefined) return Infinity
    const { clock } = this.#options
    const seenMs = version === this.#seen.version ? clock.monotonicMs() - this.#seen.sinceMs : 0
    return Math.max(clock.now() - modifiedAt, seenMs)
  }

  /** A file store has no file, and no lock for it, before its first job. */
  async #isUnused({ file, source }: JobsPlace): Promise<boolean> {
    if ((await file.version()) !== '') return false
    return (await this.#options.jobs.store.fingerprints(source)).size === 0
  }

  /** Runs a step that uses files. A problem is reported once until it changes, and blocks nothing else. */
  async #guarded(what: string, act: () => Promise<RotaError | undefined>): Promise<void> {
    const error = await act().catch((thrown: unknown) => {
      if (thrown instanceof RotaError && fileCodes.has(thrown.code)) return thrown
      throw thrown
    })
    const message = error?.message ?? ''
    if (message !== '' && message !== this.#told.get(what))
      this.#options.events.emit('trouble', { where: 'jobs', error, retryInMs: this.#lookMs })
    this.#told.set(what, message)
  }

  /** The store has the time of the last cleanup, so that restarts neither repeat nor forget it. */
  async #cleanUp(): Promise<undefined> {
    const { jobs } = this.#options
    const now = this.#options.now()
    if (now < this.#cleanupAt) return
    const key = { kind: 'cleanup', name: 'jobs', item: '' } as const
    const [note] = await jobs.store.stateEntries({ kind: 'cleanup', names: ['jobs'], limit: 1 })
    const last = (note?.value as { at: Instant } | undefined)?.at
    if (last !== undefined && now < last + dayMs) {
      this.#cleanupAt = last + dayMs
      return
    }
    this.#cleanupAt = now + againMs
    if (last !== undefined) {
      const asked = {
        operation: 'clean up jobs',
        target: 'executed one-shots',
        outcome: () => 'removed',
        details: (ids: readonly string[]) => ({ count: ids.length, jobs: someIds(ids) }),
      }
      await performOperation(this.#options.events, asked, () => jobs.cleanup({ isDry: false, now }))
    }
    await removeUnclaimedJobs(jobs.store)
    const changes = [{ ...key, revision: note?.revision ?? 0, value: { at: now } }]
    await jobs.store.changeState({ changes, now })
    this.#cleanupAt = now + dayMs
  }
}
