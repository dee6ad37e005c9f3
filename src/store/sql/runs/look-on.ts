import type { Run } from '../../../kernel/run/run.js'
import type { RunCount, RunFilter, RunsPage } from '../../run-filter.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { countRuns, listRuns } from './list-runs.js'

type Read = <T>(verb: (session: Session) => Verb<T>) => Promise<T>

/** Runs, newest first: searches until there are enough, there are no more, or the limit of the search is reached. */
export async function runsPage(read: Read, filter: RunFilter): Promise<RunsPage<Run>> {
  const found: Run[] = []
  const lookedTo = await lookOn(filter, async (part) => {
    const listed = await read((session) => listRuns(session, part))
    found.push(...listed.runs)
    return listed
  })
  return { runs: filter.newerThan === undefined ? found : found.toReversed(), lookedTo }
}

/** How many runs a filter matches, counted up to `atMost`. */
export async function runCount(
  read: Read,
  filter: Omit<RunFilter, 'limit'>,
  atMost: number,
): Promise<RunCount> {
  let found = 0
  const lookedTo = await lookOn({ ...filter, limit: atMost + 1 }, async (part) => {
    const counted = await read((session) => countRuns(session, part))
    found += counted.count
    return counted
  })
  return { count: Math.min(found, atMost), isCapped: found > atMost || lookedTo !== undefined }
}

/** Searches part by part, and returns where it stopped before the end. */
async function lookOn(
  filter: RunFilter,
  look: (part: RunFilter) => Promise<{ next: RunFilter | undefined; looked: number }>,
): Promise<string | undefined> {
  let all = 0
  for (let part = filter; ; ) {
    const { next, looked } = await look(part)
    if (next === undefined) return undefined
    all += looked
    if (all >= (filter.look ?? Infinity)) return next.newerThan ?? next.before
    part = next
    // A long list must not delay the turns of the worker.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
