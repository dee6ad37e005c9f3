import type { Arguments } from './arguments.js'
import type { Output } from './print/output.js'
import type { Option, Syntax } from './syntax.js'

/** One command: what it is called with, how its help reads, and what it does or which subcommands it has. */
export interface Command<App = unknown> extends Syntax {
  /** One line without a full stop, for the list of subcommands. */
  readonly summary?: string
  /** What a person has to know beyond the options. */
  readonly about?: string
  readonly examples?: Examples
  readonly subcommands?: readonly Command<App>[]
  /** Does it and gives the exit code; absent where a subcommand has to be named. */
  readonly run?: (context: Context<App>) => Ended
}

/** The end of a command: its exit code, or nothing for success. */
export type Ended = Promise<number | void>

/** What a command does on the app of the store that the command line names. */
export function onApp<App>(
  act: (app: App, context: AppContext<App>) => Ended,
  options?: (context: Context<App>) => OpenOptions<App>,
): (context: Context<App>) => Ended {
  return (context) => context.withApp((app, runs) => act(app, { ...context, ...runs }), options?.(context))
}

/** What a command on an app is given. */
export type AppContext<App> = Context<App> & RunTools

/** Command lines as a person would type them, each with what it is for. */
export type Examples = Readonly<Record<string, string>>

/** What is known of a command before it is loaded. */
export interface CommandEntry<App = unknown> {
  /** One line, without a full stop. */
  readonly summary: string
  readonly group: CommandGroup
  readonly load: () => Promise<Command<App>>
}

/** The headings of `rota --help`, in order. */
export const commandGroups = {
  everyday: 'everyday',
  explain: 'explain',
  'hold-back': 'hold back',
  features: 'rounds, assets, sensors and jobs',
  'from-cron': 'from cron',
  stores: 'stores, workers and the shell',
} as const

/** The group of a command in `rota --help`. */
export type CommandGroup = keyof typeof commandGroups

/** What a command is given. */
export interface Context<App = unknown> extends Surroundings, Host<App> {
  /** All commands of the program. */
  readonly commands: () => Promise<Readonly<Record<string, CommandEntry<never>>>>
}

/** What a command was called with, and where. */
export interface Surroundings {
  readonly args: Arguments
  readonly out: Output
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly directory: string
}

/** What only the program can give to a command: apps, and the configs and stores that they come from. */
export interface Host<App> {
  /** Opens the store that the command line names, hands it over as an app that is not started, and closes it in the end. */
  readonly withApp: (use: UseApp<App>, options?: OpenOptions<App>) => Ended
  /** The same with the app that the config defines, which has its handlers and sensors. */
  readonly withConfigApp: (use: UseApp<App>) => Ended
  /** The path of the config that `--config` names, else of the nearest one upwards. */
  readonly configPath: () => Promise<string | undefined>
  /** Asks for confirmation on a terminal; without one, the answer is no. */
  readonly isConfirmed: (question: string) => Promise<boolean>
  /** The store that an option names; of `--store`, else of the environment. */
  readonly storeUrl: (option?: string) => Promise<string | undefined>
}

/** Uses an app, and what commands do with the runs of any app. */
export type UseApp<App> = (app: App, runs: RunTools) => Ended

/** What commands do with the runs of an app. */
export interface RunTools {
  /** Prints the log of a run until it ends; with `--detach` only its id. Gives the exit code that says how it ended. */
  readonly follow: (id: string) => Ended
  /** Looks up how much of each id is enough to name its run. */
  readonly shortIds: (ids: Iterable<string>) => Promise<(id: string) => string>
}

/** What happens where there is no store yet; default: an error. */
export interface OpenOptions<App> {
  /** The store is made. This is tried on an empty one first, so that what is refused leaves no store behind. */
  readonly create?: ((empty: App) => Promise<unknown>) | undefined
  /** An empty store stands for it, which leaves nothing behind. */
  readonly orEmpty?: boolean
}

/** What a command ends with. */
export const exitCodes = {
  ok: 0,
  /** The thing itself failed: a run, the coverage, a check. */
  failed: 1,
  /** What was asked for was refused: usage, a definition, a config. */
  refused: 2,
  /** The store could not be used. */
  store: 3,
  internal: 70,
  io: 74,
} as const

/** Machine-readable output. */
export const jsonOption: Option = { name: 'json', help: 'print JSON instead of text' }

/** Where everything is kept. */
export const storeOption: Option = {
  name: 'store',
  value: 'url',
  help: 'the store; default: $ROTA_STORE, else the config’s, else sqlite:data/rota.db',
}

/** Which config file counts. */
export const configOption: Option = {
  name: 'config',
  value: 'file',
  help: 'the config file; default: rota.config.* here or above',
  completes: 'file',
}

/** The zone of times that are shown, and of those that are written without an offset. */
export const zoneOption: Option = {
  name: 'zone',
  value: 'zone',
  help: 'the IANA zone of the times; default: that of this machine',
}

/** For commands that start a run and follow it. */
export const detachOption: Option = { name: 'detach', short: 'd', help: 'print the id and do not wait' }

/** Why a change is made. */
export const reasonOption: Option = {
  name: 'reason',
  value: 'text',
  help: 'why; `rota history` shows it',
  isContent: true,
}

/** Whether this is a dry run. The output says so automatically. */
export const dryRunOption: Option = { name: 'dry-run', help: 'say what would change, and change nothing' }

/** The options of every command that uses a store. */
export const storeOptions: readonly Option[] = [storeOption, configOption, jsonOption]

/** The options of every command that changes something in a store. */
export const changeOptions: readonly Option[] = [reasonOption, dryRunOption, ...storeOptions]
