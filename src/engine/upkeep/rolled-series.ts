import type { StateEntry } from '../../kernel/state/state-entry.js'
import { SeriesRows, type SeriesRequest, type SeriesRow } from '../../store/series.js'
import type { Store } from '../../store/port.js'
import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { nextTurn } from '../../time/turn.js'
import { dayName, rolledUntil } from './roll-up.js'
import { readHours, type Hours } from './rolled-hours.js'

/** Longer periods are read from roll-ups. */
const longestFromRuns = DAY_MS

/** How many entries one read returns: other work continues in between. */
const entriesPerLook = 100

/**
 * The ends of runs over time. A period of up to a day is counted from the runs. A longer one must begin with an hour
 * and have buckets of whole hours; its runs are counted only after the last hour that was rolled up.
 */
export async function rolledSeries(store: Store, request: SeriesRequest): Promise<readonly SeriesRow[]> {
  const { fromAt, untilAt, bucketMs } = request
  if (untilAt - fromAt <= longestFromRuns) return await store.series(request)
  const rolledAt = Math.min(untilAt, (await rolledUntil(store)) ?? fromAt)
  const rows = new SeriesRows()
  const put = (row: SeriesRow): void => {
    if (row.bucketAt < fromAt || row.bucketAt >= untilAt) return
    rows.addRow({ ...row, bucketAt: row.bucketAt - ((row.bucketAt - fromAt) % bucketMs) })
  }
  for (let at = fromAt - (fromAt % DAY_MS); at < rolledAt; at += DAY_MS) {
    for await (const entry of entriesOf(store, at, request)) {
      const job = request.byJob === true ? entry.item : undefined
      for (const row of readHours(at, job, entry.value as unknown as Hours)) put(row)
    }
    await nextTurn()
  }
  const behindAt = Math.max(fromAt, rolledAt)
  for (const row of await store.series({ ...request, fromAt: behindAt, bucketMs: HOUR_MS })) put(row)
  return rows.rows()
}

/** The entries of a day: those of the requested jobs, or the one over all jobs. */
async function* entriesOf(
  store: Store,
  dayAt: Instant,
  { byJob, jobs }: SeriesRequest,
): AsyncGenerator<StateEntry> {
  const names = [dayName(dayAt)]
  const items = jobs ?? (byJob === true ? undefined : [''])
  let after: { name: string; item: string } | undefined
  for (;;) {
    const found = await store.stateEntries({ kind: 'rollup', names, items, after, limit: entriesPerLook })
    for (const entry of found) if (items !== undefined || entry.item !== '') yield entry
    const last = found.at(-1)
    if (last === undefined || found.length < entriesPerLook) return
    after = { name: last.name, item: last.item }
    await nextTurn()
  }
}
