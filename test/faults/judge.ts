import { readFile } from 'node:fs/promises'
import { createApp, type App } from '../../src/app/rota.js'
import type { Attempt, Run } from '../../src/kernel/run/run.js'
import { allRuns } from '../fixtures/all-runs.js'

/** What clients did. */
export interface Asked {
  /** Runs whose enqueueing was acknowledged. */
  readonly acknowledged: readonly string[]
  /** Orders of transactions that were rolled back. */
  readonly rolledBack: readonly number[]
  /** Orders in the clients' own table, whether the clients got an answer or not. */
  readonly ordered: readonly number[]
}

/** The result of the checks. */
export interface Judgement {
  readonly runs: number
  readonly instants: number
  readonly skipped: number
  readonly attempts: number
  readonly repeated: number
  /** All broken guarantees, one sentence each. */
  readonly broken: readonly string[]
}

/** Compares the store and the lines that handlers wrote to disk with what was due and what was enqueued. */
export async function judge(store: string, diary: string, asked: Asked): Promise<Judgement> {
  const app = createApp({ store }, 'code:judge')
  const runs = await allRuns(app)
  const begun = readDiary(await readFile(diary, 'utf8'))
  const attempts = new Map<string, readonly Attempt[]>()
  for (const { id, attempt } of runs) if (attempt > 1) attempts.set(id, await app.runs.attempts(id))
  const timed = await checkInstants(app, runs)
  const broken = [
    ...timed.broken,
    ...checkChain(runs),
    ...checkShots(runs),
    ...checkAsked(asked, runs),
    ...checkPerformed(runs, begun, attempts),
    ...checkRepeats(runs, attempts),
    ...checkOverlaps(runs, begun, attempts),
  ]
  await app.close()
  const all = [...begun.values()].flat()
  const repeated = [...begun.values()].filter((list) => list.length > 1).length
  return { runs: runs.length, ...timed.counts, attempts: all.length, repeated, broken }
}

/** One attempt as its handler recorded it; without an end if it was killed. */
interface Begun {
  readonly attempt: number
  readonly beganAt: number
  readonly endedAt: number | undefined
  readonly number: string
  /** Whether its process was stopped (SIGSTOP) at some time: its attempt continues when it wakes, although others took it over. */
  readonly stoodStill: boolean
}

function readDiary(text: string): Map<string, Begun[]> {
  const byRun = new Map<string, Begun[]>()
  const lines = text.split('\n').map((line) => line.split(' '))
  const ends = new Map(
    lines.filter(([what]) => what === 'end').map(([, id, attempt, at]) => [`${id} ${attempt}`, Number(at)]),
  )
  const still = new Set(lines.filter(([what]) => what === 'still').map(([, pid]) => pid))
  for (const [what, id = '', attempt = '', at, pid, , number = '-'] of lines) {
    if (what !== 'begin') continue
    const one = {
      attempt: Number(attempt),
      beganAt: Number(at),
      endedAt: ends.get(`${id} ${attempt}`),
      number,
      stoodStill: still.has(pid),
    }
    byRun.set(id, [...(byRun.get(id) ?? []), one])
  }
  return byRun
}

/** Every due time, computed with simple arithmetic, is one run or in one range of the ledger. */
async function checkInstants(
  app: App,
  runs: readonly Run[],
): Promise<{ broken: string[]; counts: { instants: number; skipped: number } }> {
  const broken: string[] = []
  const counts = { instants: 0, skipped: 0 }
  const store = await app.store()
  for (const { trigger, definedAt, cursorAt } of await app.triggers.list()) {
    const grid = grids[trigger.name]
    if (grid === undefined) continue
    const anchorAt = trigger.schedule.kind === 'interval' ? (trigger.schedule.anchorAt ?? Number.NaN) : 0
    const expected = new Set<number>()
    const first = Math.floor((definedAt - anchorAt) / grid) + 1
    for (let k = first; anchorAt + k * grid <= cursorAt; k++) expected.add(anchorAt + k * grid)
    counts.instants += expected.size
    if (expected.size === 0) broken.push(`${trigger.name} was never due`)
    const found = new Map<number, number>()
    for (const { dueAt } of runs.filter((run) => run.trigger === trigger.name)) {
      found.set(dueAt, (found.get(dueAt) ?? 0) + 1)
      if (!expected.has(dueAt)) broken.push(`${trigger.name}: ${iso(dueAt)} was not due`)
    }
    const ranges = await store.ledger({ trigger: trigger.name, fromAt: 0, untilAt: cursorAt + 1 })
    if (trigger.overlap !== 'skip' && ranges.length > 0) broken.push(`${trigger.name} left something out`)
    for (const at of expected) {
      const covered = ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt).length
      const times = found.get(at) ?? 0
      if (times === 0) counts.skipped += 1
      // A range covers only those of its instants that have no run.
      if (times > 1 || (times === 0 && covered !== 1)) {
        broken.push(`${trigger.name}: ${iso(at)} has ${times} runs and ${covered} reasons`)
      }
    }
  }
  return { broken, counts }
}

const grids: Readonly<Record<string, number | undefined>> = {
  grid: 500,
  second: 1000,
  overlapping: 2000,
  skipping: 250,
}

/** Each run of an after-finish trigger is due one interval after the end of the previous one, and at most one is unfinished. */
function checkChain(runs: readonly Run[]): string[] {
  const chain = runs.filter(({ trigger }) => trigger === 'chain').toSorted((a, b) => a.dueAt - b.dueAt)
  if (chain.length < 3) return [`the chain has only ${chain.length} links`]
  return chain.slice(1).flatMap((run, i) => {
    const before = chain[i] as Run
    if (before.finishedAt !== undefined && run.dueAt === before.finishedAt + 300) return []
    return [`chain: ${iso(run.dueAt)} does not follow the end at ${iso(before.finishedAt ?? 0)}`]
  })
}

function checkShots(runs: readonly Run[]): string[] {
  const shots = runs.filter(({ trigger }) => trigger?.startsWith('shot') === true)
  const names = new Set(shots.map(({ trigger }) => trigger))
  return names.size === shots.length ? [] : ['a one-shot has two runs']
}

/** Acknowledged runs are done, rolled back ones do not exist, and an order and its run exist together or not at all. */
function checkAsked({ acknowledged, rolledBack, ordered }: Asked, runs: readonly Run[]): string[] {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const numberOf = ({ payload }: Run): number => (payload as { order?: number } | undefined)?.order ?? -1
  const withRun = new Set(runs.map(numberOf))
  const orders = new Set(ordered)
  return [
    ...acknowledged
      .filter((id) => byId.get(id)?.state !== 'done')
      .map((id) => `${id} was acknowledged and is ${byId.get(id)?.state ?? 'gone'}`),
    ...rolledBack.filter((n) => withRun.has(n)).map((n) => `order ${n} was rolled back and has a run`),
    ...ordered.filter((n) => !withRun.has(n)).map((n) => `order ${n} has no run`),
    ...[...withRun].filter((n) => n >= 0 && !orders.has(n)).map((n) => `the run of order ${n} has no order`),
  ]
}

/** Every done run began; no attempt began twice; every performed run exists. */
function checkPerformed(
  runs: readonly Run[],
  begun: ReadonlyMap<string, readonly Begun[]>,
  attempts: ReadonlyMap<string, readonly Attempt[]>,
): string[] {
  const broken: string[] = []
  const known = new Set(runs.map(({ id }) => id))
  for (const id of begun.keys()) if (!known.has(id)) broken.push(`${id} was performed and is not there`)
  for (const { id, state, attempt, reason } of runs) {
    const numbers = (begun.get(id) ?? []).map((one) => one.attempt)
    if (state === 'failed' || state === 'cancelled') broken.push(`${id} is ${state}: ${reason}`)
    const last = attempts.get(id)?.find(({ end }) => end === 'done')?.attempt ?? attempt
    if (state === 'done' && !numbers.includes(last)) broken.push(`${id} is done but was never performed`)
    if (new Set(numbers).size !== numbers.length)
      broken.push(`an attempt of ${id} began twice: ${numbers.join()}`)
    if (numbers.some((number) => number > attempt)) broken.push(`${id} began an attempt that is not recorded`)
  }
  return broken
}

/** Every attempt except the last one has an end that explains the next, and there are no gaps. */
function checkRepeats(runs: readonly Run[], attempts: ReadonlyMap<string, readonly Attempt[]>): string[] {
  const explained: readonly string[] = ['lost', 'released', 'failed']
  const byId = new Map(runs.map((run) => [run.id, run]))
  return [...attempts].flatMap(([id, list]) => {
    const run = byId.get(id) as Run
    const isNumbered = list.every(({ attempt }, i) => attempt === i + 1)
    const ends = list.filter(({ attempt }) => attempt < run.attempt).map(({ end }) => end ?? 'nothing')
    const odd = ends.filter((end) => !explained.includes(end))
    if (isNumbered && odd.length === 0 && ends.length === run.attempt - 1) return []
    return [`${id} at attempt ${run.attempt} is repeated after ${ends.join()}`]
  })
}

/** No two attempts of a run, of a trigger or of an exclusive job ran at the same time, unless the first was lost. */
function checkOverlaps(
  runs: readonly Run[],
  begun: ReadonlyMap<string, readonly Begun[]>,
  attempts: ReadonlyMap<string, readonly Attempt[]>,
): string[] {
  const lines = new Map<string, (Begun & { readonly isLost: boolean; readonly id: string })[]>()
  for (const { id, job, trigger } of runs) {
    const endOf = (number: number) => attempts.get(id)?.find(({ attempt }) => attempt === number)?.end
    // A lost attempt becomes released when its worker wakes up and reports.
    const isLost = ({ attempt, stoodStill }: Begun): boolean =>
      endOf(attempt) === 'lost' || (stoodStill && endOf(attempt) === 'released')
    const ones = (begun.get(id) ?? []).map((one) => ({ ...one, id, isLost: isLost(one) }))
    const isGated = trigger !== undefined && trigger !== 'overlapping'
    const keys = [
      `run ${id}`,
      ...(isGated ? [`trigger ${trigger}`] : []),
      ...(job === 'narrow' ? ['job narrow'] : []),
    ]
    for (const key of keys) lines.set(key, [...(lines.get(key) ?? []), ...ones])
  }
  return [...lines].flatMap(([key, list]) => {
    const broken: string[] = []
    let busy: (typeof list)[number] | undefined
    for (const next of list.toSorted((a, b) => a.beganAt - b.beganAt)) {
      if (busy !== undefined && (busy.endedAt ?? Infinity) > next.beganAt) {
        broken.push(`${key}: ${next.id}#${next.attempt} began while ${busy.id}#${busy.attempt} went on`)
      }
      if (!next.isLost) busy = next
    }
    return broken
  })
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
