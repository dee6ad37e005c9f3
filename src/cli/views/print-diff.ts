import {
  isSame,
  type DefinitionDiff,
  type DiffInstant,
  type TriggerDiff,
} from '../../app/explain/definition-diff.js'
import type { Output } from '../framework/print/output.js'
import type { TimeText } from '../framework/print/time-text.js'

const signs = { added: '+', removed: '-', changed: '~' } as const
const shownInstants = 5

/** Prints what a config would change. */
export function printDiff(out: Output, found: DefinitionDiff): void {
  const { jobs, triggers, load, catchUp, unchanged } = found
  const times = out.times()
  for (const [kind, names] of Object.entries(jobs) as ['added' | 'changed' | 'removed', readonly string[]][])
    for (const name of names) out.line(`${signs[kind]} job ${name}`)
  for (const trigger of triggers) printTrigger(out, trigger, times)
  if (isSame(found)) out.line(`no difference; ${unchanged} triggers unchanged`)
  else out.line(`${unchanged} triggers unchanged`)
  out.line(
    `due times until ${times.full(found.untilAt)}: ${countText(load.before)} → ${countText(load.after)}`,
  )
  out.line(`busiest minute: ${peakText(load.before, times)} → ${peakText(load.after, times)}`)
  for (const { trigger, runs, skipped } of catchUp) {
    const rest = skipped.length === 0 ? '' : `; the rest is recorded as ${skipped.join(', ')}`
    out.line(`immediately: ${trigger} creates ${runs} ${runs === 1 ? 'run' : 'runs'} for due instants${rest}`)
  }
}

function printTrigger(out: Output, trigger: TriggerDiff, times: TimeText): void {
  const { name, kind, fields, appear, vanish, moved, isCapped } = trigger
  const { green, red, yellow } = out.colors
  const paint = { added: green, removed: red, changed: yellow }[kind]
  out.line(paint(`${signs[kind]} trigger ${name}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`))
  const list = (word: string, lines: readonly string[]): void => {
    for (const line of lines.slice(0, shownInstants)) out.line(`    ${word} ${line}`)
    if (lines.length > shownInstants)
      out.line(`    ${word} ${lines.length - shownInstants} more${isCapped ? ', at least' : ''}`)
  }
  list(
    'appears',
    appear.map((one) => instantText(one, times)),
  )
  list(
    'vanishes',
    vanish.map((one) => instantText(one, times)),
  )
  list(
    'moves',
    moved.map(({ from, to }) => `${times.full(from)} → ${instantText(to, times)}`),
  )
}

function instantText({ at, change }: DiffInstant, times: TimeText): string {
  return change === undefined
    ? times.full(at)
    : `${times.full(at)} (clocks change: ${change.kind} from ${change.firstLocal})`
}

function countText({ instants, isCapped }: DefinitionDiff['load']['before']): string {
  return isCapped ? `at least ${instants}` : String(instants)
}

function peakText({ peak, peakAt }: DefinitionDiff['load']['before'], times: TimeText): string {
  return peakAt === undefined ? 'none' : `${peak} at ${times.full(peakAt)}`
}
