import { faultText, RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import { readName } from '../../kernel/definition/read-value.js'

/** The longest name. */
export const longestName = 128

/** Refuses a text that cannot be a name; the fault names the argument. */
export function assertName(text: string, where: string): void {
  const place = placeOf(where)
  readName(text, place)
  const [fault] = place.faults
  if (fault !== undefined) throw new RotaError('DEFINITION_INVALID', faultText(fault), { faults: [fault] })
}
