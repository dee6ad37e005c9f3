import { parseDuration } from '../../time/duration.js'
import { parseMoment, type Here } from '../../time/moment.js'
import { systemClock } from '../../time/clock.js'
import type { Arguments } from './arguments.js'
import { readAs } from './option-names.js'
import { TimeText, zoneHere } from './print/time-text.js'

/** The parsed command line. */
interface Given {
  readonly args: Arguments
}

/** The zone and the current time of the user. */
export function hereOf({ args }: Given): Here {
  return { zone: args.text('zone') ?? zoneHere(), now: systemClock.now() }
}

/** Formats times for the user. */
export function timesOf(given: Given): TimeText {
  return new TimeText(hereOf(given))
}

/** The instant of an option, if it was given. */
export function momentOf(given: Given, option: string, bare: 'ago' | 'ahead'): Date | undefined {
  const text = given.args.text(option)
  if (text === undefined) return undefined
  return new Date(readAs(`--${option}`, () => parseMoment(text, { ...hereOf(given), bare })))
}

/** The duration of an option, in milliseconds. */
export function durationOf({ args }: Given, option: string, usual: string): number {
  return readAs(`--${option}`, () => parseDuration(args.text(option) ?? usual))
}
