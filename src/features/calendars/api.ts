import { commonBlackouts, namedCalendars } from '../../engine/sync/calendars.js'
import { twice } from '../../engine/sync/registry.js'
import { readIcsFile } from '../../formats/ics-file.js'
import { readCalendar, type CalendarInput } from '../../kernel/calendar/define-calendar.js'
import { readBlackouts, type BlackoutInput } from '../../kernel/calendar/define-rules.js'
import { refuse } from '../../kernel/definition/errors.js'
import { placeOf, shown, type Place } from '../../kernel/definition/faults.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { AppContext } from '../app-context.js'
import type { CalendarInfo } from './status.js'

/** An app as the commands and routes of calendars use it. */
export interface CalendarsApp {
  readonly calendars: CalendarsApi
  store(): Promise<Store>
  now(): Instant
}

/** `app.calendars`: days and times by name, and periods in which nothing is due. */
export class CalendarsApi {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
  }

  /** Defines a calendar. Triggers, rounds and sensors that name it are defined after it. */
  define(name: string, input: CalendarInput): void {
    const { assertNotStarted, definitions, directory } = this.#context
    assertNotStarted('a calendar')
    const known = definitions.part(namedCalendars)
    if (known.has(name)) throw twice('calendar', name)
    const place = placeOf()
    const readIcs = (path: string, at: Place) => readIcsFile(path, directory, at)
    const read = readCalendar({ name, input }, { known, readIcs }, place)
    refuse(`calendar ${shown(name)}`, place.faults)
    if (read !== undefined) known.set(...read)
  }

  /** Adds periods in which no trigger of this app is due; times without an offset are in the zone of each trigger. */
  blackout(...stretches: readonly BlackoutInput[]): void {
    const { assertNotStarted, definitions } = this.#context
    assertNotStarted('a blackout')
    const place = placeOf()
    const read = readBlackouts(stretches, definitions.part(namedCalendars), place)
    refuse('the blackout', place.faults)
    definitions.part(commonBlackouts).list.push(...read)
  }

  /** The calendars of the store, by name, with the triggers that use them. */
  async list(): Promise<readonly CalendarInfo[]> {
    const { calendarInfos } = await import('./status.js')
    return await calendarInfos(await this.#context.store())
  }

  /** One calendar with the triggers that use it. */
  async get(name: string): Promise<CalendarInfo> {
    const { calendarInfo } = await import('./status.js')
    return await calendarInfo(await this.#context.store(), name)
  }
}
