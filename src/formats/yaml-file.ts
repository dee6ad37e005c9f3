import { placeOf, type Place } from '../kernel/definition/faults.js'
import { readPlainYaml } from './plain-yaml.js'
import { checkText, textOf, type TextFile } from './text-file.js'

/** Reads and checks a YAML file; throws one error with all its faults. The full parser is loaded on demand. */
export async function loadYamlFile<Value>(
  file: TextFile,
  read: (value: unknown, place: Place) => Value | undefined,
): Promise<Value> {
  const text = await textOf(file)
  const plain = readPlainYaml(text)
  const value = plain === undefined ? undefined : withoutFaults(plain.value, read)
  if (value !== undefined) return value
  const { readYamlText } = await import('./config/config-text.js')
  return checkText(file, readYamlText(text), read).value
}

/** Undefined if there is a fault: only the full parser knows its position. */
function withoutFaults<Value>(
  value: unknown,
  read: (value: unknown, place: Place) => Value | undefined,
): Value | undefined {
  const place = placeOf()
  const found = read(value, place)
  return place.faults.length === 0 ? found : undefined
}
