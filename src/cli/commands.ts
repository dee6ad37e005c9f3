import type { Command } from './framework/command.js'

/** Every command by name, in the order of the help; loaded only when it is the one that counts. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  init: entry('write a config that runs', async () => (await import('./commands/everyday/init.js')).init),
  up: entry(
    'start the engine and show what happens',
    async () => (await import('./commands/everyday/up.js')).up,
  ),
  next: entry(
    'show when an expression is due',
    async () => (await import('./commands/explain/next.js')).next,
  ),
  plan: entry('check a plan file', async () => (await import('../features/plans/commands.js')).plan),
  schedule: entry(
    'enqueue what a plan has due, once, for cron',
    async () => (await import('../features/plans/schedule-command.js')).schedule,
  ),
  work: entry(
    'perform one run of a queue, for cron',
    async () => (await import('../features/plans/queue/work-command.js')).work,
  ),
  queue: entry(
    'look at a queue directory',
    async () => (await import('../features/plans/queue/commands.js')).queue,
  ),
  list: entry(
    'list triggers, jobs or queues',
    async () => (await import('./commands/everyday/list.js')).list,
  ),
  show: entry(
    'show a trigger, job or run in full',
    async () => (await import('./commands/everyday/show.js')).show,
  ),
  add: entry('add a job, a trigger, or both', async () => (await import('./commands/everyday/add.js')).add),
  remove: entry('remove what was added', async () => (await import('./commands/everyday/remove.js')).remove),
  job: entry(
    'add, list and remove command jobs',
    async () => (await import('../features/command-jobs/commands.js')).job,
  ),
  asset: entry(
    'make, see and backfill assets',
    async () => (await import('../features/assets/commands.js')).asset,
  ),
  round: entry(
    'start, stop and look at rounds',
    async () => (await import('../features/rounds/commands.js')).round,
  ),
  sensor: entry(
    'look at sensors and reset them',
    async () => (await import('../features/sensors/commands.js')).sensor,
  ),
  import: entry(
    'take the jobs of a JSONL file',
    async () => (await import('../features/command-jobs/import-command.js')).importCommand,
  ),
  export: entry(
    'write the jobs as a JSONL file',
    async () => (await import('../features/command-jobs/export-command.js')).exportCommand,
  ),
  run: entry(
    'run a job now and follow its log',
    async () => (await import('./commands/everyday/run.js')).run,
  ),
  enqueue: entry(
    'record a run of a job',
    async () => (await import('./commands/everyday/enqueue.js')).enqueue,
  ),
  runs: entry('list runs, newest first', async () => (await import('./commands/everyday/runs.js')).runs),
  logs: entry('print what a run wrote', async () => (await import('./commands/everyday/logs.js')).logs),
  cancel: entry('cancel a run', async () => (await import('./commands/everyday/cancel.js')).cancel),
  retry: entry(
    'try a failed or cancelled run again',
    async () => (await import('./commands/everyday/retry.js')).retry,
  ),
  pause: entry(
    'hold back a trigger or a queue',
    async () => (await import('./commands/hold-back/pause.js')).pause,
  ),
  resume: entry(
    'let a trigger or a queue go on',
    async () => (await import('./commands/hold-back/resume.js')).resume,
  ),
  freeze: entry('hold back everything', async () => (await import('./commands/hold-back/freeze.js')).freeze),
  thaw: entry('end a freeze', async () => (await import('./commands/hold-back/thaw.js')).thaw),
  switch: entry(
    'see or set the kill switches',
    async () => (await import('./commands/hold-back/switch.js')).killSwitch,
  ),
  workers: entry(
    'list the processes, and drain them',
    async () => (await import('./commands/stores/workers.js')).workers,
  ),
  why: entry(
    'explain what became of due instants',
    async () => (await import('./commands/explain/why.js')).why,
  ),
  coverage: entry(
    'prove that nothing was lost',
    async () => (await import('./commands/explain/coverage.js')).coverage,
  ),
  migrate: entry(
    'move a store into another one',
    async () => (await import('../features/migrate/commands.js')).migrate,
  ),
  doctor: entry('look for what is wrong', async () => (await import('./commands/explain/doctor.js')).doctor),
  completion: entry(
    'print a completion script for a shell',
    async () => (await import('./commands/stores/completion.js')).completion,
  ),
}

/** What is known of a command before it is loaded. */
export interface CommandEntry {
  /** One line, without a full stop. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

function entry(summary: string, load: () => Promise<Command>): CommandEntry {
  return { summary, load }
}
