import { expect } from 'vitest'
import type { Job } from '../../../kernel/job/job.js'
import type { ConcurrencySlot, Run } from '../../../kernel/run/run.js'
import { scheduleOf } from '../../../kernel/trigger/schedule.js'
import type { Instant } from '../../../time/instant.js'
import type { RecordedRange } from '../../../kernel/ledger/ledger.js'
import type { Store } from '../../port.js'
import type { Player } from '../player.js'
import { storyAt } from '../names.js'
import { t0 } from '../stage.js'

/** The answers of a store to every read. */
export async function compareFacts(player: Player): Promise<void> {
  const { now } = player
  const runs = await player.both((store) => store.runs({ limit: 100_000 }))
  for (const { id } of runs) {
    await player.both((store) => store.attempts(id))
    await player.both((store) => store.logs({ run: id, limit: 100 }))
  }
  for (const trigger of player.triggers) {
    const window = { trigger, fromAt: 0, untilAt: now }
    await player.both((store) => store.versions(trigger))
    await player.both((store) => store.runInstants({ ...window, limit: 100_000 }))
    await player.both(async (store) => (await store.ledger(window)).map(withCounts))
  }
  await player.both((store) => store.triggers())
  await player.both((store) => store.fingerprints('code:test'))
  await player.both((store) => store.jobs())
  await player.both((store) => store.queues())
  await player.both((store) => store.holds())
  await player.both(async (store) =>
    (await store.auditPage({ limit: 1000 })).map(({ seq: _seq, ...entry }) => entry),
  )
  await player.both((store) => store.workers())
  await player.both((store) => store.counts())
  await player.both((store) => store.nextTickAt({ now }))
  for (const bucketMs of [60_000, 7_200_000]) {
    const window = { fromAt: storyAt, untilAt: now, bucketMs }
    await player.both((store) => store.series(window))
    await player.both((store) => store.series({ ...window, byJob: true }))
  }
  await player.both((store) => store.late({ now, byMs: 1000, limit: 7 }))
  for (const kind of ['service', 'cycle', 'check', 'partition', 'arrival', 'executed'] as const)
    await player.both((store) => store.stateEntries({ kind, limit: 1000 }))
  const digests = Array.from({ length: 7 }, (_, i) => String(i))
  for (const trigger of player.triggers) await player.both((store) => store.seen({ trigger, digests, now }))
  await player.both(async (store) => {
    const { epoch, highestAt, faults } = await store.health({ now })
    return { epoch, highestAt, faults }
  })
}

/** What must be true after every story. */
export async function checkLaws(player: Player): Promise<void> {
  // A turn makes due runs ready, so that every pending run that waits for nothing has been admitted.
  await player.both((store) =>
    store.turn({ worker: '', now: player.now, finished: [], claimRequest: undefined }),
  )
  const runs = await player.model.runs({ limit: 100_000 })
  checkAttempts(runs)
  await checkSlots(player, runs)
  for (const trigger of player.triggers) await checkCoverage(player.model, trigger)
  await checkStandIns(player, runs)
}

function withCounts(range: RecordedRange): unknown {
  return range.reason === 'pruned' ? { ...range, detail: JSON.parse(range.detail ?? '{}') as unknown } : range
}

function checkAttempts(runs: readonly Run[]): void {
  for (const run of runs) {
    if (run.failures + run.crashes > run.attempt) expect(run).toBe('a run with at most one end per attempt')
    if ((run.state === 'running') !== (run.worker !== undefined))
      expect(run).toBe('a run held exactly while running')
  }
}

/** G6: the limit of a trigger admits one run. A run waits only if a limit of its own is full, or of a run it waits behind. */
async function checkSlots({ model, slots, now }: Player, runs: readonly Run[]): Promise<void> {
  const jobs = new Map((await model.jobs()).map(({ job }) => [job.name, job]))
  // The store itself creates dead letters.
  const slotsFor = (run: Run): readonly ConcurrencySlot[] => slots.get(run.id) ?? run.slots
  const admitted = new Map<string, number>()
  for (const run of runs) {
    const isReady = run.state === 'pending' && run.waitsFor === undefined && run.runAt <= now
    if (!isReady && run.state !== 'running') continue
    for (const { key } of slotsFor(run)) admitted.set(key, (admitted.get(key) ?? 0) + 1)
  }
  for (const [key, count] of admitted)
    if (key.startsWith('trigger:')) expect({ key, count }).toEqual({ key, count: 1 })
  const isHeldUp = (run: Run): boolean =>
    slotsFor(run).some((slot) => (admitted.get(slot.key) ?? 0) >= limitOf(jobs.get(run.job), slot))
  const waiting = runs.filter(({ waitsFor }) => waitsFor !== undefined)
  const waitsForOther = (one: Run, other: Run): boolean =>
    one.waitsFor !== other.waitsFor &&
    slotsFor(one).some(({ key }) => key === other.waitsFor) &&
    isHeldUp(one)
  for (const run of waiting) {
    const mayWait = isHeldUp(run) || waiting.some((one) => waitsForOther(one, run))
    expect({ run, mayWait }).toEqual({ run, mayWait: true })
  }
}

function limitOf(job: Job | undefined, slot: ConcurrencySlot): number {
  if (job === undefined || !/^(job|key):/.test(slot.key)) return slot.limit
  return slot.key.startsWith('job:') ? (job.concurrency ?? Infinity) : job.concurrencyPerKey
}

/** G2, G3: every due instant of every version, up to the cursor, has one run or is in one range. */
async function checkCoverage(store: Store, name: string): Promise<void> {
  const [stored] = await store.triggers({ names: [name] })
  if (stored === undefined) return
  const window = { trigger: name, fromAt: t0, untilAt: stored.cursorAt }
  const ranges = await store.ledger(window)
  const instants = await store.runInstants({ ...window, limit: 100_000 })
  const own = new Set(instants.map(({ dueAt }) => dueAt))
  for (const version of await store.versions(name)) {
    const until = Math.min(version.validUntil ?? Infinity, stored.cursorAt)
    const schedule = scheduleOf(version.trigger.schedule)
    for (let at = schedule.next(version.validFrom); at !== undefined && at <= until; at = schedule.next(at)) {
      expect({ name, at, covered: coveredBy(at, own, ranges) }).toEqual({ name, at, covered: 1 })
    }
  }
}

/** G3: a run that others were collapsed into or cancelled for exists or was pruned. */
async function checkStandIns({ model, triggers, slots }: Player, runs: readonly Run[]): Promise<void> {
  const named = runs.flatMap(({ reason }) =>
    reason?.startsWith(supersededBy) ? [reason.slice(supersededBy.length)] : [],
  )
  for (const trigger of triggers) {
    const ranges = await model.ledger({ trigger, fromAt: 0, untilAt: Number.MAX_SAFE_INTEGER })
    named.push(
      ...ranges.flatMap(({ reason, blocker }) =>
        reason === 'collapsed' && blocker !== undefined ? [blocker] : [],
      ),
    )
  }
  for (const id of named) expect({ id, wasRecorded: slots.has(id) }).toEqual({ id, wasRecorded: true })
}

const supersededBy = 'superseded by '

function coveredBy(at: Instant, own: ReadonlySet<Instant>, ranges: readonly RecordedRange[]): number {
  if (own.has(at)) return 1
  return ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt).length
}
