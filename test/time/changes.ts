import { zoneOf } from '../../src/time/zone.js'

/** The instants from `from` to before `to` at which the engine says that a zone's offset changes. */
export function changesBetween(zone: string, from: number, to: number): number[] {
  const changes: number[] = []
  let change = zoneOf(zone).nextTransition(from - 1, to)
  while (change !== undefined) {
    changes.push(change.at)
    change = zoneOf(zone).nextTransition(change.at, to)
  }
  return changes
}
