import { resolve } from 'node:path'
import { faultsIn, type DefinitionFault } from '../../app/definitions/check-definitions.js'
import { refusal } from '../../app/definitions/refusal.js'
import type { App } from '../../app/rota.js'
import { checkConfigPath } from '../../formats/config/find-config.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { authorOf } from '../framework/author-of.js'
import type { Context } from '../framework/command.js'
import { readAs } from '../framework/option-names.js'
import type { Argument } from '../framework/syntax.js'
import { configOf, noConfig } from './config-of.js'
import { storeOf } from './named-store.js'

/** The config that a command checks before a deploy. */
export const configArgument: Argument = {
  name: 'config',
  help: 'the config file; default: rota.config.* here or above',
  isOptional: true,
}

/** The app of a config, or its faults. */
export type LoadedApp =
  | { readonly config: string; readonly app: App }
  | { readonly config: string; readonly faults: readonly DefinitionFault[] }

/** Loads the app of a config without starting it; the caller closes it. */
export async function loadChecked(context: Context<App>): Promise<LoadedApp> {
  const { args, directory } = context
  const named = args.optionalWord(0)
  const config =
    named === undefined
      ? configOf(context)
      : readAs('<config>', () => checkConfigPath(resolve(directory, named)))
  if (config === undefined) throw noConfig(context, '; name one, such as `rota.config.yaml`')
  const { loadApp } = await import('../../app/definitions/load-app.js')
  try {
    const author = authorOf(context)
    return {
      config,
      app: await loadApp(config, { store: storeOf(context), directory, create: false, author }),
    }
  } catch (error) {
    if (!(error instanceof RotaError) || error.code === 'CONFIG_NOT_FOUND' || error.code === 'STORE_URL')
      throw error
    return { config, faults: faultsIn(error) }
  }
}

/** Returns the app, or throws an error with all faults of its config. */
export async function loadFaultless(context: Context<App>): Promise<{ config: string; app: App }> {
  const loaded = await loadChecked(context)
  if ('app' in loaded) return loaded
  throw refusal(loaded.config, loaded.faults)
}
