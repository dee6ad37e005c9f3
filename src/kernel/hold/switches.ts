import { RotaError, type Fault } from '../definition/errors.js'
import { shown } from '../definition/faults.js'
import type { SwitchName } from './hold.js'
import { nearest } from '../definition/read-value.js'

/** Whether each kill switch was set, and to what. */
export type Switches = Readonly<Record<SwitchName, boolean | undefined>>

/** Reads the kill switches of an environment; a value that is neither on nor off is refused, since it must not count as on. */
export function readSwitches(environment: Readonly<Record<string, string | undefined>>): Switches {
  const faults: Fault[] = []
  const read = (variable: string): boolean | undefined => {
    const word = environment[variable]?.trim().toLowerCase()
    if (word === undefined) return undefined
    if (onWords.includes(word)) return true
    if (!offWords.includes(word)) {
      const message = `${shown(environment[variable])} is neither on nor off`
      faults.push({ path: variable, message, allowed: [...onWords, ...offWords].join(', ') })
    }
    return false
  }
  const switches = {
    pipeline: read('PIPELINE_ENABLED'),
    scheduler: read('SCHEDULER_ENABLED'),
    worker: read('WORKER_ENABLED'),
  }
  if (faults.length === 0) return switches
  const names = faults.map((fault) => `${fault.path} has a value that is neither on nor off`).join('; ')
  throw new RotaError('SWITCH_INVALID', `${names}; nothing was done`, { faults })
}

/** Variables that look like a mistyped switch: `WORKER_ENABLE=0` switches nothing off. */
export function likelySwitches(environment: Readonly<Record<string, string | undefined>>): string[] {
  const open = switchVariables.filter((variable) => environment[variable] === undefined)
  return Object.keys(environment).flatMap((name) => {
    const meant = switchVariables.includes(name) ? undefined : nearest(name, open)
    return meant === undefined ? [] : [`${name} is set and has no effect; did you mean ${meant}?`]
  })
}

const switchVariables: readonly string[] = ['PIPELINE_ENABLED', 'SCHEDULER_ENABLED', 'WORKER_ENABLED']

const onWords = ['true', '1', 'yes', 'y', 'on', 'enabled']
const offWords = ['false', '0', 'no', 'n', 'off', 'disabled']
