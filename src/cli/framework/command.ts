import type { Arguments } from './arguments.js'
import type { Output } from './print/output.js'
import type { Option, Syntax } from './syntax.js'

/** One command: its arguments, its help, and its action or its subcommands. */
export interface Command<App = unknown> extends Syntax {
  /** One line without a full stop, for the list of subcommands. */
  readonly summary?: string
  /** The description, besides the options. */
  readonly about?: string
  readonly examples?: Examples
  readonly subcommands?: readonly Command<App>[]
  /** Performs it and returns the exit code; absent if a subcommand is required. */
  readonly run?: (context: Context<App>) => Ended
}

/** The end of a command: its exit code, or nothing for success. */
export type Ended = Promise<number | void>

/** Performs a command on the app of the store that the command line names. */
export function onApp<App>(
  act: (app: App, context: AppContext<App>) => Ended,
  options?: (context: Context<App>) => OpenOptions<App>,
): (context: Context<App>) => Ended {
  return (context) => context.withApp((app, runs) => act(app, { ...context, ...runs }), options?.(context))
}

/** The context of a command on an app. */
export type AppContext<App> = Context<App> & RunTools

/** Example command lines, each with its purpose. */
export type Examples = Readonly<Record<string, string>>

/** A command before it is loaded. */
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

/** The context of a command. */
export interface Context<App = unknown> extends Surroundings, Host<App> {
  /** All commands of the program. */
  readonly commands: () => Promise<Readonly<Record<string, CommandEntry<never>>>>
}

/** The arguments, the output and the environment of a command. */
export interface Surroundings {
  readonly args: Arguments
  readonly out: Output
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly directory: string
}

/** What only the program can provide to a command: apps, configs and stores. */
export interface Host<App> {
  /** Opens the store that the command line names, passes it as an app that is not started, and closes it at the end. */
  readonly withApp: (use: UseApp<App>, options?: OpenOptions<App>) => Ended
  /** The same with the app that the config defines, which has its handlers and sensors. */
  readonly withConfigApp: (use: UseApp<App>) => Ended
  /** The path of the config: from `--config`, otherwise the nearest one upwards. */
  readonly configPath: () => Promise<string | undefined>
  /** Asks for confirmation on a terminal; without one, the answer is no. */
  readonly isConfirmed: (question: string) => Promise<boolean>
  /** The store: from the option (default: `--store`), otherwise from the environment. */
  readonly storeUrl: (option?: string) => Promise<string | undefined>
}

/** Uses an app and its run tools. */
export type UseApp<App> = (app: App, runs: RunTools) => Ended

/** Functions for the runs of an app. */
export interface RunTools {
  /** Prints the log of a run until it ends; with `--detach` only its id. Returns the exit code for its end. */
  readonly follow: (id: string) => Ended
  /** Looks up the shortest unique prefix of each id. */
  readonly shortIds: (ids: Iterable<string>) => Promise<(id: string) => string>
}

/** What happens if there is no store yet; default: an error. */
export interface OpenOptions<App> {
  /** Creates the store. It is first tried on an empty one, so that a refused command leaves no store behind. */
  readonly create?: ((empty: App) => Promise<unknown>) | undefined
  /** Uses an empty store instead, which leaves nothing behind. */
  readonly orEmpty?: boolean
}

/** The exit codes of commands. */
export const exitCodes = {
  ok: 0,
  /** The run, the coverage or the check failed. */
  failed: 1,
  /** The request was refused: usage, a definition, a config. */
  refused: 2,
  /** The store could not be used. */
  store: 3,
  internal: 70,
  io: 74,
} as const

/** Machine-readable output. */
export const jsonOption: Option = { name: 'json', help: 'print JSON instead of text' }

/** The option for the store. */
export const storeOption: Option = {
  name: 'store',
  value: 'url',
  help: 'the store; default: $ROTA_STORE, else the config’s, else sqlite:data/rota.db',
}

/** The option for the config file. */
export const configOption: Option = {
  name: 'config',
  value: 'file',
  help: 'the config file; default: rota.config.* here or above',
  completes: 'file',
}

/** The zone of printed times, and of given times without an offset. */
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
export const dryRunOption: Option = { name: 'dry-run', help: 'print what would change, and change nothing' }

/** The options of every command that uses a store. */
export const storeOptions: readonly Option[] = [storeOption, configOption, jsonOption]

/** The options of every command that changes something in a store. */
export const changeOptions: readonly Option[] = [reasonOption, dryRunOption, ...storeOptions]
