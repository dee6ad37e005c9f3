import type { Instant } from '../../time/instant.js'
import { dueRunId, type RunId } from '../identity/identity.js'
import type { Json } from '../definition/json.js'
import { isMap } from '../definition/read-value.js'

/** A run as a task of the worker pool. */
export interface Task {
  /** An idempotency key: unique to the run, and the same on every host and in every attempt. */
  readonly id: string
  readonly type: 'cron'
  readonly payload: TaskPayload
}

/** What a task is about. */
export interface TaskPayload {
  readonly command: string
  readonly user_id: string
  readonly metadata: Readonly<Record<string, Json>>
}

/** The fields of a run that its task needs. */
export interface TaskSource {
  readonly run: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly dueAt: Instant
  readonly payload: unknown
}

/** The task of a run; if its payload names no command, its job is the command. */
export function taskOf(run: TaskSource): Task {
  const said = isMap(run.payload) ? run.payload : {}
  const { command, user_id: user, metadata } = said
  return {
    id: taskIdOf(run),
    type: 'cron',
    payload: {
      command: typeof command === 'string' ? command : run.job,
      user_id: typeof user === 'string' ? user : '',
      metadata: isMap(metadata) ? (metadata as Record<string, Json>) : {},
    },
  }
}

/**
 * The id of a run's task: `cron_<trigger>_<due instant in ms>` for the only run of a due instant of a trigger. Several
 * other runs may share an instant, so their ids are `cron_<trigger or job>_<run id>`.
 */
export function taskIdOf({ run, job, trigger, dueAt }: Omit<TaskSource, 'payload'>): string {
  const isDue = trigger !== undefined && run === dueRunId({ trigger, dueAt })
  return `cron_${trigger ?? job}_${isDue ? dueAt : run}`
}
