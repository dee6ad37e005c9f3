import type { Calendars } from '../calendar/define-calendar.js'
import type { Job } from '../job/job.js'
import type { Trigger } from '../trigger/trigger.js'
import type { Key, Place } from './faults.js'
import type { SecretText } from './secret-text.js'

/** Definitions that were read and are right each for itself. */
export interface Definitions {
  readonly jobs?: readonly JobDefinition[]
  readonly triggers?: readonly TriggerDefinition[]
  /** Checks that these definitions need once all others are known. */
  readonly checks?: readonly DefinitionCheck[]
}

/** What the definitions of one config take if they say nothing else. */
export interface DefinitionDefaults {
  /** The time zone of schedules and sensors. */
  readonly timezone?: string | undefined
  /** Variables that every command gets; its own count more. */
  readonly env?: Readonly<Record<string, SecretText>> | undefined
  /** The calendars that triggers name. */
  readonly calendars?: Calendars | undefined
}

/** A job, with its function if it is one of this process. */
export interface JobDefinition {
  readonly job: Job
  readonly handler?: ((run: never) => unknown) | undefined
  /** The section of a config that has such jobs; default: `jobs`. */
  readonly section?: string | undefined
}

/** A trigger, and where it was defined. */
export interface TriggerDefinition {
  readonly trigger: Trigger
  readonly origin?: TriggerOrigin | undefined
}

/** Where a trigger was defined, for faults that show only when all definitions are known. */
export interface TriggerOrigin {
  /** The section of a config that has such triggers. */
  readonly section: string
  /** Where the trigger names its jobs; default: under `job`. */
  readonly jobAt?: ((index: number) => readonly Key[]) | undefined
}

/** All definitions together, as checks between them see them. */
export interface KnownDefinitions {
  /** The jobs of this app. */
  readonly own: ReadonlyMap<string, Job>
  /** The jobs that others wrote to the store. */
  readonly others: ReadonlyMap<string, Job>
  readonly triggers: readonly { readonly trigger: Trigger; readonly place: Place }[]
}

/** Notes what is wrong between definitions that are right each for itself. */
export type DefinitionCheck = (known: KnownDefinitions, place: Place) => void
