import { RotaError } from '../../kernel/definition/errors.js'
import type { DefinitionFault } from './check-definitions.js'

/** The error with all faults of a config. */
export function refusal(config: string, faults: readonly DefinitionFault[]): RotaError {
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  const lines = faults.map((fault) => `  ${faultLine(fault)}`)
  return new RotaError('CONFIG_INVALID', `${config} has ${count}`, { faults, lines })
}

/** A fault with its place, in one line. */
export function faultLine({ where, path, message, allowed }: DefinitionFault): string {
  const place = [where, path === '' || path === '(whole)' ? undefined : path].filter(
    (one) => one !== undefined,
  )
  const sentence = [...place, message].join(': ')
  return allowed === undefined || allowed === '' ? sentence : `${sentence} (allowed: ${allowed})`
}
