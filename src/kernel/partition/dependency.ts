import { fault, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import { mappingFault, pairsOf, type Mapping, type PartitionMap } from './pairs.js'
import { dimensionsOf, writtenLabels, type Dimension } from './spec.js'
import { isMap, readChoice, readName, readOptions, readWhole } from '../definition/read-value.js'

/** An upstream asset, and which of its partitions each partition needs. */
export interface Dependency {
  readonly asset: string
  /** Default: every slice of time that overlaps its own, and the same key. */
  readonly map?: PartitionMap | undefined
}

/** Reads a frozen dependency; records faults at the place and returns undefined if there are any. */
export function readDependency(value: unknown, place: Place): Dependency | undefined {
  const before = place.faults.length
  if (!isMap(value)) {
    const name = readName(value, place)
    return name === undefined ? undefined : frozen({ asset: name })
  }
  readOptions(value, ['asset', 'map'], place)
  const asset = readName(value['asset'], within(place, 'asset'))
  const map = readMap(value['map'], within(place, 'map'))
  if (place.faults.length > before || asset === undefined) return undefined
  return frozen(map === undefined ? { asset } : { asset, map })
}

/** Records why two assets cannot depend on each other in this way, once both are known. */
export function checkMapping(mapping: Mapping, place: Place): void {
  const refused = mappingFault(mapping)
  if (refused !== undefined) fault(within(place, 'map'), refused.refused, refused.allowed)
  else checkKeys(mapping, place)
}

const words = ['same', 'time', 'all', 'any'] as const
const offsets = { min: -1000, max: 1000 }

function readMap(value: unknown, place: Place): PartitionMap | undefined {
  if (!isMap(value)) return readChoice(value, words, place)
  readOptions(value, ['offset'], place)
  const at = within(place, 'offset')
  if (value['offset'] === undefined) return fault(at, 'it is missing', 'a whole number such as -1')
  const offset = readWhole(value['offset'], offsets, at)
  return offset === undefined ? undefined : { offset }
}

/** A key that upstream does not have would wait forever, which is never intended. */
function checkKeys({ downstream, upstream, map }: Mapping, place: Place): void {
  if (map === 'all' || map === 'any') return
  const own = dimensionsOf(downstream)
  const others = dimensionsOf(upstream)
  for (const [one, other] of pairsOf(downstream, upstream)) {
    const written = writtenLabels(others[other] as Dimension)
    if (written === undefined) continue
    const known = new Set(written)
    const missing = writtenLabels(own[one] as Dimension)?.filter((key) => !known.has(key)) ?? []
    if (missing.length === 0) continue
    const named = missing.slice(0, 5).map(shown).join(', ')
    const more = missing.length > 5 ? ` and ${missing.length - 5} more` : ''
    fault(place, `it has no partition for ${named}${more}`, 'keys that both have, or map all or any')
  }
}
