import type { Events } from '../../engine/events.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf, type LiveProcess } from './live-processes.js'

/** A start that would end triggers or plans of its source. */
export interface Ending {
  readonly source: string
  /** The program that starts, if known. */
  readonly program: string | undefined
  /** The triggers and plans that it would end. */
  readonly names: readonly string[]
  /** The live processes with the same source and other definitions. */
  readonly others: readonly LiveProcess[]
}

/**
 * Checks whose definitions a start ends. Ending those of an older release is a deploy and causes a warning; ending those
 * of another program is an accident and is refused.
 */
export function checkReplaced(ending: Ending, events: Events): void {
  const { source, program, names, others } = ending
  if (others.length === 0) return
  const strangers = others.filter((other) => isOther(other.program, program))
  const what = `trigger${names.length === 1 ? '' : 's'} ${someOf(names)}`
  if (strangers.length > 0) {
    const who = someOf(strangers.map((other) => `${placeOf(other)} (${other.program})`))
    throw new RotaError(
      'DEFINITION_CONFLICT',
      `another program runs as ${source}: process ${who}; this one (${program}) would end its ${what}. Nothing was changed. Give each program its own \`app\`; if this one replaces the other, stop that process first`,
    )
  }
  const who = someOf(others.map(placeOf))
  const message = `${what} ended, which process ${who} has defined; right for a deploy, otherwise give each program its own \`app\``
  events.emit('operation', { operation: 'start', target: source, outcome: 'warning', details: { message } })
}

/** An unknown program may be the same one. */
function isOther(one: string | undefined, two: string | undefined): boolean {
  return one !== undefined && two !== undefined && one !== two
}

const most = 5

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}
