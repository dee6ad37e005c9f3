import type { Calendars } from '../calendar/define-calendar.js'
import type { Job } from '../job/job.js'
import type { Trigger } from '../trigger/trigger.js'
import type { Key, Place } from './faults.js'
import type { SecretText } from './secret-text.js'

/** Definitions that were read and are valid individually. */
export interface Definitions {
  readonly jobs?: readonly JobDefinition[]
  readonly triggers?: readonly TriggerDefinition[]
  /** Checks that these definitions need once all others are known. */
  readonly checks?: readonly DefinitionCheck[]
}

/** The defaults of the definitions of one config. */
export interface DefinitionDefaults {
  /** The time zone of schedules and sensors. */
  readonly timezone?: string | undefined
  /** Variables for every command; its own have priority. */
  readonly env?: Readonly<Record<string, SecretText>> | undefined
  /** The calendars that triggers may use. */
  readonly calendars?: Calendars | undefined
}

/** A job, with its function if it is a function of this process. */
export interface JobDefinition {
  readonly job: Job
  readonly handler?: ((run: never) => unknown) | undefined
  /** The section of the config that defines it; default: `jobs`. */
  readonly section?: string | undefined
}

/** A trigger, and where it was defined. */
export interface TriggerDefinition {
  readonly trigger: Trigger
  readonly origin?: TriggerOrigin | undefined
}

/** Where a trigger was defined, for faults that can be found only when all definitions are known. */
export interface TriggerOrigin {
  /** The section of the config that defines it. */
  readonly section: string
  /** Where the trigger names its jobs; default: under `job`. */
  readonly jobAt?: ((index: number) => readonly Key[]) | undefined
}

/** All definitions together, as checks between them see them. */
export interface KnownDefinitions {
  /** The jobs of this app. */
  readonly own: ReadonlyMap<string, Job>
  /** The jobs that other sources wrote to the store. */
  readonly others: ReadonlyMap<string, Job>
  readonly triggers: readonly { readonly trigger: Trigger; readonly place: Place }[]
}

/** Records faults between definitions that are valid individually. */
export type DefinitionCheck = (known: KnownDefinitions, place: Place) => void
