import type { App } from '../app/rota.js'
import type { FeatureCommand, ProgramParts } from '../features/feature.js'
import type { Command, CommandEntry, CommandGroup } from './framework/command.js'
import { hostOf } from './host/host.js'
import type { Program } from './framework/run-command-line.js'

type Entries = Readonly<Record<string, CommandEntry<App>>>

/** The commands that belong to no feature, in the order of the help. */
const own: Entries = {
  ...inGroup('everyday', {
    init: ['write a config that runs', async () => (await import('./commands/everyday/init.js')).init],
    up: [
      'start the engine and print what happens',
      async () => {
        const { loadUpFeatures } = await import('./host/up-features.js')
        return (await import('./commands/everyday/up.js')).up(await loadUpFeatures())
      },
    ],
    reload: [
      'make the running engine read its config again',
      async () => (await import('./commands/everyday/reload.js')).reload,
    ],
    list: ['list triggers, jobs or queues', async () => (await import('./commands/everyday/list.js')).list],
    show: [
      'show a trigger, job or run in full',
      async () => (await import('./commands/everyday/show.js')).show,
    ],
    runs: ['list runs, newest first', async () => (await import('./commands/everyday/runs.js')).runs],
    logs: ['print the log of a run', async () => (await import('./commands/everyday/logs.js')).logs],
    run: [
      'run a job now and follow its log',
      async () => extended((await import('./commands/everyday/run.js')).run),
    ],
    backfill: [
      'run past due instants again',
      async () => (await import('./commands/everyday/backfill.js')).backfill,
    ],
    enqueue: ['enqueue a run of a job', async () => (await import('./commands/everyday/enqueue.js')).enqueue],
    cancel: ['cancel a run', async () => extended((await import('./commands/everyday/cancel.js')).cancel)],
    retry: [
      'retry a failed or cancelled run',
      async () => extended((await import('./commands/everyday/retry.js')).retry),
    ],
    add: ['add a job, a trigger, or both', async () => (await import('./commands/everyday/add.js')).add],
    remove: [
      'remove a job or trigger that was added',
      async () => (await import('./commands/everyday/remove.js')).remove,
    ],
  }),
  ...inGroup('explain', {
    why: [
      'explain what happened at each due instant',
      async () => (await import('./commands/explain/why.js')).why,
    ],
    next: [
      'show when a cron expression is due',
      async () => (await import('./commands/explain/next.js')).next,
    ],
    coverage: [
      'prove that no due instant was lost',
      async () => (await import('./commands/explain/coverage.js')).coverage,
    ],
    check: ['list all faults of a config', async () => (await import('./commands/explain/check.js')).check],
    lint: [
      'find surprising settings in a config',
      async () => (await import('./commands/explain/lint.js')).lint,
    ],
    diff: [
      'show what a deploy of a config would change',
      async () => (await import('./commands/explain/diff.js')).diff,
    ],
    simulate: [
      'simulate the next days',
      async () => (await import('./commands/explain/simulate.js')).simulate,
    ],
    history: [
      'list who changed what, and why',
      async () => (await import('./commands/explain/history.js')).history,
    ],
    doctor: [
      'find problems and say what to do',
      async () => (await import('./commands/explain/doctor.js')).doctor,
    ],
  }),
  ...inGroup('hold-back', {
    pause: ['pause a trigger or a queue', async () => (await import('./commands/hold-back/hold.js')).pause],
    resume: [
      'resume a trigger or a queue',
      async () => (await import('./commands/hold-back/hold.js')).resume,
    ],
    freeze: ['pause everything', async () => (await import('./commands/hold-back/hold.js')).freeze],
    thaw: ['end a freeze', async () => (await import('./commands/hold-back/hold.js')).thaw],
    switch: [
      'show or set the kill switches',
      async () => (await import('./commands/hold-back/switch.js')).killSwitch,
    ],
  }),
  ...inGroup('stores', {
    workers: [
      'list the processes of a store, and drain them',
      async () => (await import('./commands/stores/workers.js')).workers,
    ],
    token: [
      'manage who may use the HTTP API',
      async () => (await import('./commands/stores/token.js')).token,
    ],
    mcp: [
      'let agents use a store (Model Context Protocol)',
      async () => (await import('./commands/stores/mcp.js')).mcp,
    ],
    migrate: [
      'move a store into another one',
      async () => (await import('./commands/stores/migrate.js')).migrate,
    ],
    completion: [
      'print a completion script for a shell',
      async () => (await import('./commands/stores/completion.js')).completion,
    ],
  }),
}

/** The command `rota`: its own commands and those that features list. */
export const program: Program<App> = {
  version: async () => (await import('../formats/version.js')).packageVersion,
  // Its own commands are found without loading the features.
  command: async (name) => entryOf(own, name) ?? entryOf(await featureCommands(), name),
  commands: async () => ({ ...own, ...(await featureCommands()) }),
  host: hostOf,
}

/** A command with the extensions of features. */
async function extended(command: Command<App>): Promise<Command<App>> {
  return await (await import('./host/extended-command.js')).extendedCommand(command)
}

async function featureCommands(): Promise<Entries> {
  const { findFeatures } = await import('../features/find-features.js')
  const features = findFeatures()
  const lists = features.map((feature): FeatureEntries => ('commands' in feature ? feature.commands : {}))
  return Object.fromEntries(
    lists
      .flatMap(Object.entries<FeatureEntries[string]>)
      .map(([name, entry]) => [
        name,
        { ...entry, load: async () => entry.load((await import('../app/program-parts.js')).programParts) },
      ]),
  )
}

/** The commands of a feature, all of which can use this program's apps. */
type FeatureEntries = Readonly<
  Record<string, Omit<FeatureCommand, 'load'> & { load: (program: ProgramParts) => Promise<Command<App>> }>
>

function entryOf(entries: Entries, name: string): CommandEntry<App> | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

type Listed = readonly [summary: string, load: () => Promise<Command<App>>]

function inGroup(group: CommandGroup, commands: Readonly<Record<string, Listed>>): Entries {
  const entries = Object.entries(commands).map(([name, [summary, load]]) => [name, { summary, group, load }])
  return Object.fromEntries(entries) as Entries
}
