import { resolve } from 'node:path'
import { activeTriggers } from '../../engine/active-triggers.js'
import { readCommandJob, type CommandJob } from './definition.js'
import { infoOf, type CommandJobInfo } from './state.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import { isJobsSource, jobsSource } from '../../kernel/job/command-source.js'
import { readOptions } from '../../kernel/definition/read-value.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { formatJobLine, jobsIn } from './lines.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import type { Instant } from '../../time/instant.js'
import { openToOthers } from '../../formats/open-to-others.js'
import { JobsFile } from './jobs-file.js'
import { addToStore, endInStore, executionsOf, findJob, infosOf, type NewJob } from './store-jobs.js'
import { jobsFileTrouble, readOrRestore, type JobsPlace } from './sync-file.js'

/** A job as it is added: a recurring one has `schedule`, a one-shot `executeAt`. */
export interface AddJob {
  /** Default: `job_` and 128 random bits. */
  readonly id?: string | undefined
  readonly type: 'recurring' | 'oneshot'
  /** A cron expression in UTC: five fields, or six with seconds first. */
  readonly schedule?: string | undefined
  /** A Date, or a text such as `2026-01-05T09:00:00Z`. A time in the past is due immediately. */
  readonly executeAt?: Date | string | undefined
  /** The name of a job, or a text for the command handler of the app. */
  readonly command: string
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** How many jobs, and after which id. */
export interface PageRequest {
  readonly limit: number
  readonly after?: string | undefined
}

/** Some of the jobs, where to continue if there are more, and how many there are in total. */
export interface JobsPage {
  readonly jobs: readonly CommandJobInfo[]
  readonly next: string | undefined
  readonly count: number
}

/** Where the jobs of an app are kept. */
export interface JobsSettings {
  readonly store: Store
  /** The address of the store with an absolute path. */
  readonly storeUrl: string
  readonly clock: Clock
  /** The file that the app uses in place, if there is one. */
  readonly path: string | undefined
}

/** The command jobs of an app. */
export class CommandJobs {
  readonly store: Store
  /** The file for new jobs, if there is one. */
  readonly place: JobsPlace | undefined
  readonly #home: JobsPlace | undefined
  readonly #clock: Clock

  constructor({ store, storeUrl, clock, path }: JobsSettings) {
    this.store = store
    this.#clock = clock
    const directory = storeUrl.startsWith('files:') ? storeUrl.slice('files:'.length) : undefined
    const file = directory === undefined ? undefined : new JobsFile(resolve(directory, 'jobs.jsonl'), clock)
    this.#home = file === undefined ? undefined : { file, source: jobsSource }
    this.place =
      path === undefined || path === file?.path ? this.#home : this.#placeOf(`${jobsSource}:${path}`)
  }

  /** Checks a job, stores it, and with that schedules it. An id that is taken is a conflict that changes nothing. */
  async add(input: AddJob, { now, dryRun }: { readonly now: Instant } & DryRun): Promise<CommandJobInfo> {
    const job = readAdded(input)
    if (dryRun === true) return await this.#rehearse(job, now)
    await this.write([{ job }], now)
    return await this.get(job.id)
  }

  /** What adding a job would return; the store writes nothing. */
  async #rehearse(job: CommandJob, now: Instant): Promise<CommandJobInfo> {
    const { store, place } = this
    if ((await this.#unread()).some(({ id }) => id === job.id)) {
      throw new RotaError('DEFINITION_CONFLICT', `already defined: ${job.id}; nothing was changed`)
    }
    const source = place?.source ?? jobsSource
    await addToStore(store, { source, jobs: [{ job }], now })
    const nextAt = job.executeAt ?? cronSchedule(job.schedule ?? '', { timezone: 'UTC' }).next(now)
    return infoOf(job, { state: 'scheduled', nextAt, executed: undefined, isShell: false, source })
  }

  /** Ends a job: a running attempt may finish, runs that have not started are cancelled. */
  async remove(id: string, { now, dryRun }: { readonly now: Instant } & DryRun): Promise<CommandJobInfo> {
    const { active, source } = await findJob(this.store, id)
    if (!active) throw new RotaError('JOB_UNKNOWN', `the command job ${id} is already removed`)
    if (dryRun !== true) await this.#end(source, [id], now)
    return await this.get(id)
  }

  /** One job, also one that was removed. */
  async get(id: string): Promise<CommandJobInfo> {
    const [known] = await this.store.triggers({ names: [id] })
    const unread = known?.active === true ? undefined : await this.#unread()
    const found = unread?.find((job) => job.id === id)
    const [info] = found === undefined ? await infosOf(this.store, [await findJob(this.store, id)]) : [found]
    return info as CommandJobInfo
  }

  /** All jobs that are not removed, by id; also those of the file that are not in the store yet. */
  async list(): Promise<readonly CommandJobInfo[]> {
    const known = await infosOf(this.store, await this.active())
    return [...known, ...(await this.#unread())].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** One page of the jobs in the store that are not removed, by id. */
  async page({ limit, after = '' }: PageRequest): Promise<JobsPage> {
    const sources = await this.#sources()
    const request = { order: 'name', active: true, limit: limit + 1, after: { name: after } } as const
    const pages = await Promise.all(sources.map((source) => this.store.triggersPage({ ...request, source })))
    const counts = await Promise.all(
      sources.map(async (source) => (await this.store.fingerprints(source)).size),
    )
    const found = pages.flat().toSorted(byName)
    const shown = found.slice(0, limit)
    return {
      jobs: await infosOf(this.store, shown),
      next: found.length > limit ? shown.at(-1)?.trigger.name : undefined,
      count: counts.reduce((sum, count) => sum + count, 0),
    }
  }

  /** The error of the jobs file, if there is a file and something is wrong with it. */
  async fileTrouble(): Promise<RotaError | undefined> {
    if (this.place === undefined) return undefined
    return await jobsFileTrouble(this.store, this.place, this.#clock.now())
  }

  /** Warns if other users may write the jobs file, because they could run commands here. */
  fileWarnings(): readonly string[] {
    const open = this.place === undefined ? [] : openToOthers(this.place.file.path)
    return open.map(({ message, todo }) => `${message}; ${todo}`)
  }

  /** The jobs of the file that the store does not have. */
  async #unread(): Promise<readonly CommandJobInfo[]> {
    if (this.place === undefined) return []
    const { file, source } = this.place
    // If the file cannot be read, the jobs of the store are listed; `fileTrouble` reports the error.
    const text = await file.read().catch(unlessTrouble)
    const lines = jobsIn(text?.lines ?? [])
    const stored = await this.store.triggers({ names: lines.map(({ job }) => job.id), active: true })
    const known = new Set(stored.map(({ trigger }) => trigger.name))
    return lines
      .filter(({ job }) => !known.has(job.id))
      .map(({ job, executed }) =>
        infoOf(job, {
          state: executed === undefined ? 'created' : 'executed',
          executed,
          isShell: false,
          source,
        }),
      )
  }

  /** Removes executed one-shots; other jobs and the history of runs stay. Returns the ids, also in a dry run. */
  async cleanup(options: { readonly isDry: boolean; readonly now: Instant }): Promise<readonly string[]> {
    const active = await this.active()
    const executions = await executionsOf(this.store, active)
    const ran = active.filter(({ trigger }) => executions.has(trigger.name))
    // A job with an unfinished manual run is not executed yet, so it stays.
    const executed = (await infosOf(this.store, ran)).filter(({ state }) => state === 'executed')
    const all = executed.map(({ id }) => id)
    if (options.isDry) return all
    const troubles: unknown[] = []
    for (const source of new Set(executed.map((one) => one.source))) {
      const ids = executed.filter((one) => one.source === source).map(({ id }) => id)
      // If the file cannot be changed, its jobs stay, and the others are removed.
      await this.#end(source, ids, options.now).catch((error: unknown) => troubles.push(error))
    }
    if (troubles.length > 0) throw troubles[0]
    return all
  }

  /** The triggers of all jobs that are not removed, by id. */
  async active(): Promise<readonly StoredTrigger[]> {
    const found: StoredTrigger[] = []
    for (const source of await this.#sources()) {
      for await (const stored of activeTriggers(this.store, source)) found.push(stored)
    }
    return found.toSorted(byName)
  }

  async #sources(): Promise<readonly string[]> {
    return (await this.store.sources()).filter(isJobsSource)
  }

  /** Writes new jobs to the file or the store; all of them or none. */
  async write(jobs: readonly NewJob[], now: Instant): Promise<void> {
    const { place, store } = this
    if (place === undefined) return await addToStore(store, { source: jobsSource, jobs, now })
    await place.file.hold(async () => {
      const { lines } = await readOrRestore(store, place)
      const ids = new Set(jobs.map(({ job }) => job.id))
      const known = await store.triggers({ names: [...ids], active: true })
      const taken = [
        ...known.map(({ trigger, source }) => `${trigger.name} (${source})`),
        ...jobsIn(lines).flatMap(({ job, line }) => (ids.has(job.id) ? [`${job.id} (line ${line})`] : [])),
      ]
      if (taken.length > 0) {
        throw new RotaError(
          'DEFINITION_CONFLICT',
          `already defined: ${taken.join(', ')}; nothing was changed`,
        )
      }
      const texts = jobs.map(({ job, executed }) => formatJobLine(job, executed))
      await place.file.append(texts)
      try {
        await addToStore(store, { source: place.source, jobs, now })
      } catch (error) {
        // Refused lines must not be read with the next sync, even if the disk has no room for a new file.
        await removeLines(place.file, ids)
          .catch(() => place.file.restoreLines(texts))
          .catch(() => undefined)
        throw error
      }
    })
  }

  async #end(source: string, ids: readonly string[], now: Instant): Promise<void> {
    const place = this.#placeOf(source)
    if (place === undefined) return await endInStore(this.store, { source, ids, now })
    await place.file.hold(async () => {
      await removeLines(place.file, new Set(ids))
      await endInStore(this.store, { source, ids, now })
    })
  }

  /** The file that jobs of a source are in, if they are in one. */
  #placeOf(source: string): JobsPlace | undefined {
    if (source === jobsSource) return this.#home
    return { source, file: new JobsFile(source.slice(jobsSource.length + 1), this.#clock) }
  }
}

function unlessTrouble(error: unknown): undefined {
  if (!(error instanceof RotaError) || error.code !== 'JOBS_INVALID') throw error
}

/** Removes lines from a file; the others keep their bytes. */
async function removeLines(file: JobsFile, ids: ReadonlySet<string>): Promise<void> {
  await file.rewrite((lines) => lines.filter((line) => line.kind !== 'job' || !ids.has(line.job.id)))
}

const addNames: readonly (keyof AddJob)[] = [
  'id',
  'type',
  'schedule',
  'executeAt',
  'command',
  'userId',
  'metadata',
]

function readAdded(added: AddJob): CommandJob {
  const place = placeOf()
  const input = readOptions(added, addNames, place) ?? {}
  const job = readCommandJob({ input, spelling: 'library' }, place)
  refuse('the job', place.faults)
  return job as CommandJob
}

function byName({ trigger: a }: StoredTrigger, { trigger: b }: StoredTrigger): number {
  return a.name < b.name ? -1 : 1
}
