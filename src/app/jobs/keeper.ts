import type { Events } from '../../engine/events.js'
import { Loop, type Look } from '../../engine/loop.js'
import { RotaError } from '../../model/errors.js'
import { isFinal } from '../../model/run.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { someIds, telling } from '../operations.js'
import type { CommandJobs } from './command-jobs.js'
import { bindCommands } from './performers.js'
import { executedNotes } from './store-jobs.js'
import { syncJobsFile, type JobsPlace, type Synced } from './sync-jobs-file.js'

/** What looks after command jobs while an app runs. */
export interface JobsKeeperOptions {
  readonly jobs: CommandJobs
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  /** Jobs may have changed: the scheduler looks at once. */
  readonly onChange: () => void
}

/** A line that another program adds is noticed within this. */
const lookMs = 30_000
const soonMs = 5000
const dayMs = 86_400_000

/** Keeps the store equal to a jobs file, gives commands to those who perform them, and cleans up once a day. */
export class JobsKeeper {
  readonly #options: JobsKeeperOptions
  readonly #loop: Loop
  readonly #unlisten: () => void
  #synced: Synced | undefined
  #boundTo: string | undefined
  #cleanupAt: Instant = 0
  #told = ''

  constructor(options: JobsKeeperOptions) {
    this.#options = options
    const { clock, events } = options
    const step = (): Promise<Look> => this.look()
    this.#loop = new Loop({ name: 'jobs', seed: 'jobs', clock, events, pollMs: lookMs, step })
    this.#unlisten = events.on('run:ended', ({ trigger, state }) => {
      if (trigger !== undefined && isFinal(state) && this.#synced?.open.has(trigger) === true)
        this.#loop.wake()
    })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    this.#unlisten()
    await this.#loop.stop()
  }

  /** Looks once. Trouble with the file is told and holds up nothing else. */
  async look(): Promise<Look> {
    const { jobs } = this.#options
    const performers = (await jobs.store.jobs()).map(({ job, source }) => `${job.name} ${source}`).join('\n')
    const hasNewJobs = performers !== this.#boundTo
    if (jobs.place !== undefined) await this.#lookAtFile(jobs.place, hasNewJobs)
    if (hasNewJobs) await bindCommands(jobs.store, this.#options.now())
    this.#boundTo = performers
    await this.#cleanUp()
    return { afterMs: this.#synced?.isUnsettled === true ? soonMs : lookMs }
  }

  async #lookAtFile(place: JobsPlace, hasNewJobs: boolean): Promise<void> {
    const { jobs, now, onChange } = this.#options
    try {
      const before = this.#synced
      const isSame =
        before !== undefined &&
        !before.isUnsettled &&
        !hasNewJobs &&
        (await place.file.version()) === before.version &&
        (await executedNotes(jobs.store, [...before.open])).size === 0
      if (isSame) return
      this.#synced = await place.file.hold(() => syncJobsFile(jobs.store, place, now()))
      onChange()
      this.#tell(this.#synced.error)
    } catch (error) {
      if (!(error instanceof RotaError) || error.code !== 'JOBS_INVALID') throw error
      this.#tell(error)
    }
  }

  /** Once, until it is something else. */
  #tell(error: RotaError | undefined): void {
    const message = error?.message ?? ''
    if (message !== '' && message !== this.#told)
      this.#options.events.emit('trouble', { where: 'jobs', error, retryInMs: lookMs })
    this.#told = message
  }

  /** The instant of the last one is in the store, so that restarts neither repeat nor forget it. */
  async #cleanUp(): Promise<void> {
    const { jobs } = this.#options
    const now = this.#options.now()
    if (now < this.#cleanupAt) return
    const key = { kind: 'cleanup', name: 'jobs', item: '' } as const
    const [note] = await jobs.store.notes({ kind: 'cleanup', names: ['jobs'], limit: 1 })
    const last = (note?.value as { at: Instant } | undefined)?.at
    if (last !== undefined && now < last + dayMs) {
      this.#cleanupAt = last + dayMs
      return
    }
    if (last !== undefined) {
      const asked = {
        operation: 'clean up jobs',
        target: 'executed one-shots',
        outcome: () => 'removed',
        details: (ids: readonly string[]) => ({ count: ids.length, jobs: someIds(ids) }),
      }
      await telling(this.#options.events, asked, () => jobs.cleanup({ isDry: false, now }))
    }
    const changes = [{ ...key, revision: note?.revision ?? 0, value: { at: now } }]
    await jobs.store.changeNotes({ changes, now })
    this.#cleanupAt = now + dayMs
  }
}
