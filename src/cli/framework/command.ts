import type { Arguments } from './arguments.js'
import type { Output } from './print/output.js'
import type { Option, Syntax } from './syntax.js'

/** One command: what it is called with, how its help reads, and what it does. */
export interface Command extends Syntax {
  /** What a person has to know beyond the options. */
  readonly about?: string
  readonly examples: readonly Example[]
  /** Does it and gives the exit code. */
  readonly run: (context: Context) => Promise<number>
}

/** A command line as a person would type it, and what it is for. */
export interface Example {
  readonly line: string
  readonly meaning: string
}

/** What a command is given. */
export interface Context {
  readonly args: Arguments
  readonly out: Output
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The working directory. */
  readonly directory: string
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
  help: 'the store; default $ROTA_STORE, else the config’s, else sqlite:data/rota.db',
}

/** Which config file counts. */
export const configOption: Option = {
  name: 'config',
  value: 'file',
  help: 'the config file; default rota.config.* here or above',
  completes: 'file',
}

/** The zone of times that are shown, and of those that are written without an offset. */
export const zoneOption: Option = {
  name: 'zone',
  value: 'zone',
  help: 'the IANA zone of the times; default that of this machine',
}

/** The options of every command that uses a store. */
export const storeOptions: readonly Option[] = [storeOption, configOption, jsonOption]
