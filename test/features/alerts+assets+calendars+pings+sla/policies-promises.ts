import type { Run } from '../../../src/kernel/run/run.js'
import type { Breach } from '../../../src/kernel/sla/deadline.js'
import { formatInstant } from '../../../src/time/instant.js'
import type { Facts } from './policies-judge.js'
import { days, hoursOfDay, promises } from './policies-world.js'

/** When somebody else had read that a run was claimed, by its id and attempt, and that it had ended. */
export interface Seen {
  readonly claimed: ReadonlyMap<string, number>
  readonly ended: ReadonlyMap<string, number>
}

/**
 * Holds breaches against the times of the store, to the millisecond. A worker stamps a claim and an end before it waits
 * for the transaction that stores them, so a deadline may lie between the stamp and the commit. Exactly this holds:
 *
 * - A begin that is stored decides: after the deadline it is a breach, otherwise it is none. A handler is called after
 *   its claim was committed, so whoever found no claim after the deadline was right.
 * - A begin that is not stored, because the worker died, is the claim: after the deadline it is a breach. Before it, it
 *   is none if the claim could be read by the deadline.
 * - An end after the deadline is a breach. One that could be read by the deadline is none.
 *
 * What could be read by when, the test has read itself (`seen`).
 */
export function checkBreaches({ runs, attempts }: Facts, breaches: readonly Breach[], seen: Seen): string[] {
  const told = new Set(breaches.map(({ run, rule }) => `${run} ${rule}`))
  const early = breaches
    .filter(({ at, deadlineAt }) => at <= deadlineAt)
    .map(({ run, rule }) => `${run} ${rule} was told before its deadline`)
  const judged = runs.filter(isPromised).flatMap(({ id, dueAt, finishedAt = Infinity }) => {
    const begun = attempts
      .get(id)
      ?.find(({ startedAt, end }) => startedAt !== undefined || end !== 'released')
    const begin = {
      at: begun?.startedAt ?? begun?.claimedAt ?? Infinity,
      deadlineAt: dueAt + promises.startedWithinMs,
    }
    const end = { at: finishedAt, deadlineAt: dueAt + promises.finishedWithinMs }
    const claimSeenAt = seen.claimed.get(`${id} ${begun?.attempt}`) ?? Infinity
    return [
      {
        ...begin,
        what: `${id} started-within`,
        isKept: begun?.startedAt !== undefined || claimSeenAt <= begin.deadlineAt,
      },
      {
        ...end,
        what: `${id} finished-within`,
        isKept: (seen.ended.get(id) ?? Infinity) <= end.deadlineAt,
      },
    ]
  })
  return [
    ...early,
    ...judged
      .filter(({ at, deadlineAt, what }) => at > deadlineAt && !told.has(what))
      .map(({ what }) => `${what} was broken and is not recorded`),
    ...judged
      .filter(({ at, deadlineAt, what, isKept }) => at <= deadlineAt && isKept && told.has(what))
      .map(({ what }) => `${what} was kept and is recorded as broken`),
  ]
}

/** Runs of the trigger and of the asset that promise something. */
function isPromised({ trigger, job, state }: Run): boolean {
  return (trigger === 'mailing' || job === 'sums') && state !== 'cancelled'
}

/** Each gap between two successes of the asset that was too long is told once; one that was read to be shorter is not. */
export function checkFreshness({ runs }: Facts, breaches: readonly Breach[], seen: Seen): string[] {
  const told = breaches.filter(({ rule }) => rule === 'not-older-than')
  const made = runs.filter(({ job, state }) => job === 'sums' && state === 'done')
  const ends = made.toSorted((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0))
  const broken = ends.flatMap(({ finishedAt: fromAt = 0 }, i) => {
    const times = told.filter(({ dueAt }) => dueAt === fromAt).length
    const next = ends[i + 1]
    // What came after the last success depends on when the programs were stopped.
    if (next === undefined) return times > 1 ? [`the last success was told to be old ${times} times`] : []
    // Of two successes in the same millisecond, the gap after them is that of the second one.
    if (next.finishedAt === fromAt) return []
    const deadlineAt = fromAt + promises.notOlderThanMs
    const isOver = (next.finishedAt ?? 0) > deadlineAt
    const isKept = !isOver && (seen.ended.get(next.id) ?? Infinity) <= deadlineAt
    return times === Number(isOver) || (!isOver && !isKept && times === 1)
      ? []
      : [`the gap after ${formatInstant(fromAt)} was told ${times} times`]
  })
  if (told.filter(({ isFirst }) => isFirst === true).length > 1) broken.push('the first gap was told twice')
  return broken
}

/** Each partition was made once, also where it was made from others, and nothing that arrived is left over. */
export async function checkPartitions({ app, runs }: Facts): Promise<string[]> {
  const broken: string[] = []
  for (const [job, labels] of [
    ['hours', days.flatMap(hoursOfDay)],
    ['sums', days],
  ] as const) {
    const own = runs.filter((run) => run.job === job)
    if (own.length !== labels.length)
      broken.push(`${job}: ${own.length} runs for ${labels.length} partitions`)
    for (const label of labels)
      if (own.filter(({ partition, state }) => partition === label && state === 'done').length !== 1)
        broken.push(`${job}: ${label} was not made once`)
  }
  const arrived = await (await app.store()).stateEntries({ kind: 'arrival', limit: 9 })
  return [...broken, ...arrived.map(({ name, item }) => `${name}: ${item} arrived and was left`)]
}
