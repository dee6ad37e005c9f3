/** Which run is next under a rate limit: runs with different concurrency keys take turns, however many runs each key has. */
import type { ConcurrencySlot } from '../run/run.js'

/** How many runs are read to let keys take turns, and how many turns are stored. */
export const rateWindow = 64

/** How many of them may have the same key. */
export const mostOfOneKey = 8

/** The concurrency key of a run. */
export function concurrencyKeyOf(job: string, slots: readonly ConcurrencySlot[]): string | undefined {
  const own = `key:${job}=`
  return slots.find(({ key }) => key.startsWith(own))?.key.slice(own.length)
}

/** The turn of a run: its job, and its concurrency key if it has one. Different turns alternate. */
export function turnOf(job: string, key: string | undefined): string {
  return key === undefined ? job : `${job}=${key}`
}

/** Sorts runs as a limit lets them start: by priority, then in turns. The input is sorted by urgency. */
export function inTurns<Row extends { readonly priority: number }>(
  rows: readonly Row[],
  turnOfRow: (row: Row) => string,
  turns: readonly string[],
): Row[] {
  const last = new Map(turns.map((turn, place) => [turn, place]))
  const seen = new Map<string, number>()
  const placed = rows.map((row, place) => {
    const turn = turnOfRow(row)
    // The first run of each turn and priority goes into the first pass, the second into the second.
    const group = `${row.priority} ${turn}`
    const round = seen.get(group) ?? 0
    seen.set(group, round + 1)
    return { row, round, last: last.get(turn) ?? -1, place }
  })
  return placed
    .toSorted(
      (a, b) => b.row.priority - a.row.priority || a.round - b.round || a.last - b.last || a.place - b.place,
    )
    .map(({ row }) => row)
}

/** The turns to store after these have started. */
export function afterTurns(turns: readonly string[], had: readonly string[]): readonly string[] {
  const recent = new Set(turns)
  for (const turn of had) {
    recent.delete(turn)
    recent.add(turn)
  }
  return [...recent].slice(-rateWindow)
}
