import type { HandlerExtension } from '../handlers/executable-jobs.js'
import type { BackfillKind } from '../engine/backfill/backfill-kind.js'
import type { Check } from '../engine/explain/finding.js'
import type { FeatureLoop } from '../engine/feature-loop.js'
import type { ReadDefinitionFiles } from '../engine/sync/definition-files.js'
import type { Registry } from '../engine/sync/registry.js'
import type { TriggerKind } from '../engine/trigger-kind.js'
import type { AppContext } from './app-context.js'
import type { EndEffect } from '../kernel/run/end-effect.js'
import type { StoredTrigger } from '../kernel/trigger/trigger.js'
import type { Command, CommandEntry, Context } from '../cli/framework/command.js'
import type { StepFunction } from '../handlers/pipeline/step-function.js'
import type { Store } from '../store/port.js'
import type { FeatureGauge } from '../wire/feature-gauge.js'
import type { Route } from '../wire/route.js'
import type { CommandExtension } from './command-extension.js'
import type { FeatureConfig } from './feature-config.js'
import type { FeatureNotices } from './feature-notices.js'
import type { UpExtension } from './up-extension.js'

/** One feature of Rota: everything it adds to the engine, the app and the command line. Each part is imported when it is first used. */
export interface Feature {
  /** Its name, which is also the name of its folder. */
  readonly name: string
  /** What it adds to the handlers of jobs. */
  readonly handlers?: () => Promise<HandlerExtension>
  /** The sections of a config file that it reads. */
  readonly config?: FeatureConfig
  /** Reads the files besides code and config that an app takes definitions from. */
  readonly readFiles?: () => Promise<ReadDefinitionFiles>
  /** The command line that enqueues a missed run of a trigger of this feature, which `rota why` suggests. */
  readonly missedCommand?: (
    context: Context,
    app: { store(): Promise<Store> },
    trigger: string,
  ) => Promise<string | undefined>
  /** How triggers are performed if no engine runs, because commands of this feature perform them. */
  readonly withoutEngine?: (active: readonly StoredTrigger[]) => Promise<string | undefined>
  /** What the ends of its runs change besides the runs. */
  readonly endEffects?: readonly EndEffect[]
  /** The kinds of triggers that it adds. */
  readonly kinds?: () => Promise<readonly TriggerKind[]>
  /** What backfills of this feature produce again. */
  readonly backfills?: () => Promise<readonly BackfillKind[]>
  /** What it checks for `rota doctor`. */
  readonly checks?: () => Promise<readonly Check[]>
  /** The loops that it runs with the scheduler of an app with these definitions. */
  readonly loops?: (definitions: Registry) => Promise<readonly FeatureLoop[]>
  /** Its options of `rota up`. */
  readonly up?: () => Promise<UpExtension>
  /** Its words in what `rota up` prints. */
  readonly notices?: () => Promise<FeatureNotices>
  /** Its routes of the HTTP API; they are loaded with the server only. */
  readonly routes?: () => Promise<readonly Route[]>
  /** Its gauges among the metrics; they are loaded with the server only. */
  readonly gauges?: () => Promise<readonly FeatureGauge[]>
  /** What it answers outside the API, by the first part of the path; it checks its callers itself. */
  readonly doors?: Readonly<Record<string, (app: never, request: Request) => Promise<Response>>>
  /** What it adds to commands that belong to no feature, by their names. */
  readonly extensions?: Readonly<Record<string, () => Promise<CommandExtension>>>
  /** Its commands, by name; each is loaded only when it is run or its help is printed. */
  readonly commands?: Readonly<Record<string, FeatureCommand>>
}

/** A feature with its object on the app, which only an app loads. */
export interface AppFeature extends Feature {
  /** Makes the object. Every app has one, so heavy parts are imported when they are first used. */
  readonly api: (context: AppContext) => object
}

/** A command of a feature, which is loaded with what it can use of the program. */
export interface FeatureCommand extends Omit<CommandEntry<never>, 'load'> {
  readonly load: (program: ProgramParts) => Promise<Command<never>>
}

/** What a command can use that works on a store without an app. */
export interface ProgramParts {
  /** Opens the store at an address; relative paths start at the directory. */
  openStore(url: string, options: { readonly directory: string; readonly create: boolean }): Promise<Store>
  /** What the features add to the handlers of jobs. */
  handlerExtensions(): Promise<readonly HandlerExtension[]>
  /** The functions that a config gives to the steps of pipelines. */
  pipelineSteps(config: string): Promise<ReadonlyMap<string, StepFunction>>
}
