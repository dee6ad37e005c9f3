import { parseDuration } from '../../time/duration.js'
import { parseMoment, type Here } from '../../time/moment.js'
import { systemClock } from '../../time/clock.js'
import type { Arguments } from './arguments.js'
import { readAs } from './option-names.js'
import { TimeText, zoneHere } from './print/time-text.js'

/** What a command line gave. */
interface Given {
  readonly args: Arguments
}

/** Where and when the person sits who gave a command. */
export function hereOf({ args }: Given): Here {
  return { zone: args.text('zone') ?? zoneHere(), now: systemClock.now() }
}

/** How times are written for them. */
export function timesOf(given: Given): TimeText {
  return new TimeText(hereOf(given))
}

/** The instant that an option names, where it was given. */
export function momentOf(given: Given, option: string, bare: 'ago' | 'ahead'): Date | undefined {
  const text = given.args.text(option)
  if (text === undefined) return undefined
  return new Date(readAs(`--${option}`, () => parseMoment(text, { ...hereOf(given), bare })))
}

/** The length of time that an option names, in milliseconds. */
export function durationOf({ args }: Given, option: string, usual: string): number {
  return readAs(`--${option}`, () => parseDuration(args.text(option) ?? usual))
}
