import { parseDuration } from '../../time/duration.js'
import { parseMoment, type Here } from './moment.js'
import { systemClock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Context } from './command.js'
import { readAs } from './option-names.js'
import { TimeText, zoneHere } from './print/time-text.js'

/** Where and when the person sits who gave a command. */
export function hereOf({ args }: Context): Here {
  return { zone: args.text('zone') ?? zoneHere(), now: systemClock.now() }
}

/** How times are written for them. */
export function timesOf(context: Context): TimeText {
  return new TimeText(hereOf(context))
}

/** The instant that an option names, where it was given. */
export function momentOf(context: Context, option: string, bare: 'ago' | 'ahead'): Instant | undefined {
  const text = context.args.text(option)
  if (text === undefined) return undefined
  return readAs(`--${option}`, () => parseMoment(text, { ...hereOf(context), bare }))
}

/** The length of time that an option names, in milliseconds. */
export function durationOf({ args }: Context, option: string, usual: string): number {
  return readAs(`--${option}`, () => parseDuration(args.text(option) ?? usual))
}
