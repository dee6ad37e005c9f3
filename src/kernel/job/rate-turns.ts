/** Which run is next under a rate limit: runs with different concurrency keys take turns, however many runs each key has. */
import type { ConcurrencySlot } from '../run/run.js'

/** How many runs are looked at to let keys take turns, and how many turns are remembered. */
export const rateWindow = 64

/** How many runs of one key have a place among them. */
export const mostOfOneKey = 8

/** The concurrency key of a run. */
export function concurrencyKeyOf(job: string, slots: readonly ConcurrencySlot[]): string | undefined {
  const own = `key:${job}=`
  return slots.find(({ key }) => key.startsWith(own))?.key.slice(own.length)
}

/** By what a run takes turns with others: its job, and its concurrency key where it has one. */
export function turnOf(job: string, key: string | undefined): string {
  return key === undefined ? job : `${job}=${key}`
}

/** Runs in the order in which a limit lets them start: by priority, then in turns. They come by urgency. */
export function inTurns<Row extends { readonly priority: number }>(
  rows: readonly Row[],
  turnOfRow: (row: Row) => string,
  turns: readonly string[],
): Row[] {
  const last = new Map(turns.map((turn, place) => [turn, place]))
  const seen = new Map<string, number>()
  const placed = rows.map((row, place) => {
    const turn = turnOfRow(row)
    // Of one turn and priority, the first of each goes in the first round, the second in the second.
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

/** The turns to remember after these were had. */
export function afterTurns(turns: readonly string[], had: readonly string[]): readonly string[] {
  const recent = new Set(turns)
  for (const turn of had) {
    recent.delete(turn)
    recent.add(turn)
  }
  return [...recent].slice(-rateWindow)
}
