import type { Command } from './command.js'

/** Every command by name, in the order of the help; loaded only when it is the one that counts. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  init: entry('write a config that runs', async () => (await import('./commands/init.js')).init),
  up: entry('start the engine and show what happens', async () => (await import('./commands/up.js')).up),
  next: entry('show when an expression is due', async () => (await import('./commands/next.js')).next),
  plan: entry('check a plan file', async () => (await import('./commands/plan.js')).plan),
  schedule: entry(
    'enqueue what a plan has due, once, for cron',
    async () => (await import('./commands/schedule.js')).schedule,
  ),
  work: entry('perform one run of a queue, for cron', async () => (await import('./commands/work.js')).work),
  queue: entry('look at a queue directory', async () => (await import('./commands/queue.js')).queue),
  list: entry('list triggers, jobs or queues', async () => (await import('./commands/list.js')).list),
  show: entry('show a trigger, job or run in full', async () => (await import('./commands/show.js')).show),
  add: entry('add a job, a trigger, or both', async () => (await import('./commands/add.js')).add),
  remove: entry('remove what was added', async () => (await import('./commands/remove.js')).remove),
  job: entry('add, list and remove command jobs', async () => (await import('./commands/job.js')).job),
  asset: entry('make, see and backfill assets', async () => (await import('./commands/asset.js')).asset),
  round: entry('start, stop and look at rounds', async () => (await import('./commands/round.js')).round),
  sensor: entry('look at sensors and reset them', async () => (await import('./commands/sensor.js')).sensor),
  import: entry(
    'take the jobs of a JSONL file',
    async () => (await import('./commands/import.js')).importCommand,
  ),
  export: entry(
    'write the jobs as a JSONL file',
    async () => (await import('./commands/export.js')).exportCommand,
  ),
  run: entry('run a job now and follow its log', async () => (await import('./commands/run.js')).run),
  enqueue: entry('record a run of a job', async () => (await import('./commands/enqueue.js')).enqueue),
  runs: entry('list runs, newest first', async () => (await import('./commands/runs.js')).runs),
  logs: entry('print what a run wrote', async () => (await import('./commands/logs.js')).logs),
  cancel: entry('cancel a run', async () => (await import('./commands/cancel.js')).cancel),
  retry: entry(
    'try a failed or cancelled run again',
    async () => (await import('./commands/retry.js')).retry,
  ),
  pause: entry('hold back a trigger or a queue', async () => (await import('./commands/pause.js')).pause),
  resume: entry('let a trigger or a queue go on', async () => (await import('./commands/resume.js')).resume),
  freeze: entry('hold back everything', async () => (await import('./commands/freeze.js')).freeze),
  thaw: entry('end a freeze', async () => (await import('./commands/thaw.js')).thaw),
  switch: entry(
    'see or set the kill switches',
    async () => (await import('./commands/switch.js')).killSwitch,
  ),
  workers: entry(
    'list the processes, and drain them',
    async () => (await import('./commands/workers.js')).workers,
  ),
  why: entry('explain what became of due instants', async () => (await import('./commands/why.js')).why),
  coverage: entry(
    'prove that nothing was lost',
    async () => (await import('./commands/coverage.js')).coverage,
  ),
  migrate: entry(
    'move a store into another one',
    async () => (await import('./commands/migrate.js')).migrate,
  ),
  doctor: entry('look for what is wrong', async () => (await import('./commands/doctor.js')).doctor),
  completion: entry(
    'print a completion script for a shell',
    async () => (await import('./commands/completion.js')).completion,
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
