import type { Instant } from '../../time/instant.js'
import { executingRun, type CommandJob } from './definition.js'
import type { StateEntry, StateChange } from '../../kernel/state/state-entry.js'
import { isFinal, type FinalState, type RunState } from '../../kernel/run/run.js'
import { pick } from '../../wire/to-json.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'

/** The state of a command job. */
export type CommandJobState =
  | 'created'
  | 'scheduled'
  | 'executing'
  | 'completed'
  | 'executed'
  | 'removed'
  | 'cleaned-up'

/** A command job with its state. */
export interface CommandJobInfo {
  readonly id: string
  readonly type: 'recurring' | 'oneshot'
  readonly schedule: string | undefined
  readonly executeAt: Instant | undefined
  readonly command: string
  readonly userId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly state: CommandJobState
  readonly nextAt: Instant | undefined
  readonly executed: boolean
  readonly executedAt: Instant | undefined
  /** Whether its command is for a shell. */
  readonly isShell: boolean
  /** `jobs`, or `jobs:` and the file it is in. */
  readonly source: string
}

/** The public view of a job. */
export function infoOf(
  job: CommandJob,
  standing: Pick<CommandJobInfo, 'state' | 'isShell' | 'source'> & {
    readonly nextAt?: Instant | undefined
    readonly executed: { readonly at: Instant | undefined } | undefined
  },
): CommandJobInfo {
  const { id, type, schedule, executeAt, command, userId, metadata } = job
  const { nextAt, executed, ...rest } = standing
  return {
    ...rest,
    id,
    type,
    schedule,
    executeAt,
    command,
    userId,
    metadata,
    nextAt,
    executed: executed !== undefined,
    executedAt: executed?.at,
  }
}

/** A command job as `--json` and the API show it. */
export function jobView(job: CommandJobInfo) {
  const when = ['id', 'type', 'schedule', 'executeAt'] as const
  const what = ['command', 'userId', 'metadata', 'state', 'nextAt', 'executed', 'executedAt'] as const
  return pick(job, [...when, ...what, 'isShell', 'source'])
}

/** What is stored when the run of a one-shot has ended. */
export interface Execution {
  /** Undefined if the line of the job does not say when. */
  readonly at: Instant | undefined
  readonly state: FinalState
}

/** Reads the execution of a one-shot from its state entry; an entry of an earlier job with the same id does not count. */
export function executionOf({ trigger }: StoredTrigger, note: StateEntry | undefined): Execution | undefined {
  const value = note?.value as ExecutedValue | undefined
  if (value === undefined || value.run !== executingRun(trigger)) return undefined
  return { at: value.at ?? undefined, state: value.state }
}

/** The state entry of a one-shot that another program has executed. */
export function executedElsewhere(trigger: Trigger, at: Instant | undefined): StateChange {
  const value = { at: at ?? null, run: executingRun(trigger) ?? '', state: 'done' }
  return { kind: 'executed', name: trigger.name, item: '', value }
}

interface ExecutedValue {
  readonly at: Instant | null
  readonly run: string
  readonly state: FinalState
}

/** The state of a job: a pure function of its trigger, its newest run and, for a one-shot, its execution. */
export function commandJobState(facts: {
  readonly stored: StoredTrigger
  /** The state of its oldest unfinished run, else of its newest one. */
  readonly run: RunState | undefined
  readonly execution: Execution | undefined
}): CommandJobState {
  const { stored, run, execution } = facts
  if (!stored.active) return hasRun(execution) ? 'cleaned-up' : 'removed'
  if (run !== undefined && !isFinal(run)) return 'executing'
  if (execution !== undefined) return 'executed'
  if (stored.nextAt === undefined) return 'created'
  return run === undefined || stored.trigger.schedule.kind === 'once' ? 'scheduled' : 'completed'
}

/** A run that was cancelled because its job was removed did not execute the job. */
function hasRun(execution: Execution | undefined): boolean {
  return execution !== undefined && execution.state !== 'cancelled'
}
