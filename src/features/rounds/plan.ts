/**
 * What a tick of a round does. A due instant of its trigger is a check: it finds which services are due and opens a
 * cycle with them. A cycle performs one service at a time: the tick that begins one writes the cycle, the run and the
 * mark that the service is in flight; the end of the run writes its result and its timing, and wakes the round, whose
 * next tick begins the next service. So a process may die between any two of these steps, and another one continues.
 *
 * While a cycle is open, a check that is on time is an overlap. A late check was missed while no scheduler
 * ran: it stays due, and all late checks become one check when the cycle is over.
 */
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { cutCalendar } from '../../kernel/tick/calendar-cut.js'
import { cutHolds, instantsWithin, type Stretch } from '../../kernel/tick/hold-cut.js'
import type { Job } from '../../kernel/job/job.js'
import type { Json } from '../../kernel/definition/json.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import { formatCheck, listedTiming, newServiceRun, onGrid, whyNotDue } from './due-services.js'
import {
  checkDeadlines,
  isSuccess,
  keptDeadlines,
  lastCheckChange,
  openDeadlines,
  successChanges,
} from './round.js'
import type { CheckNotice, RoundService, SkippedService } from '../../kernel/trigger/round-spec.js'
import type { Cycle, ServiceTiming } from './round.js'
import type { NewRun } from '../../kernel/run/run.js'
import type { Freshness } from '../../kernel/sla/freshness.js'
import { nextLook, scheduleOf } from '../../kernel/trigger/schedule.js'
import { openPause, type Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger, Trigger } from '../../kernel/trigger/trigger.js'

/** What a tick of a round needs besides its trigger. */
export interface RoundFacts {
  /** The open cycle. */
  readonly cycle: Revisioned<Cycle> | undefined
  /** The timings of its services, by name. */
  readonly timings: ReadonlyMap<string, Revisioned<ServiceTiming>>
  /** The jobs of its services, by name. */
  readonly jobs: ReadonlyMap<string, Job>
  /** Whether the open cycle is resumed. */
  readonly isResumed: boolean
  /** Its last success, if it has `notOlderThan`. */
  readonly freshness?: Revisioned<Freshness> | undefined
}

/** The value of a state entry, and the revision at which it was read. */
export interface Revisioned<Value> {
  readonly value: Value
  readonly revision: number
}

/** Plans the tick of a round. Pure: two schedulers plan the same, and the revisions of the state entries decide whose tick counts. */
export function planRound(due: DueTrigger, facts: RoundFacts, now: Instant): Tick {
  const pause = openPause(due, now)
  // The checks during the pause are recorded when it is over.
  if (pause !== undefined) return tickOf(due, { now, cursorAt: due.cursorAt, nextAt: pause.untilAt })
  const next = continueCycle(due, facts, now)
  const checks = checksOf(due, now)
  if (next.cycle !== undefined) return tickDuringCycle(due, { next, checks, now, facts })
  const checked = check(due, { checks, now, facts })
  const over = next.over ?? checked.empty
  return tickOf(due, {
    now,
    runs: checked.turn?.run,
    ranges: [...next.ranges, ...checked.ranges],
    checks: [...(next.notice ?? []), ...(checked.notice ?? [])],
    stateChanges: [
      ...cycleEntry(due, facts, checked.turn?.cycle),
      ...checked.stateChanges,
      ...lastCheckEntry(due, checked.empty ?? next.over),
      ...keptDeadlines(next.over, now),
      ...(over !== undefined && isSuccess(over)
        ? successChanges(due.trigger.name, facts.freshness, now)
        : []),
    ],
  })
}

/**
 * The tick that closes the version of a round; it starts no service. If another list follows, the rest of the open cycle
 * is dropped, and the new list makes the due checks.
 */
export function closeRound(
  due: DueTrigger,
  cycle: Cycle | undefined,
  { now, isReplaced }: { now: Instant; isReplaced: boolean },
): Tick {
  const { held, clear, schedule } = checksOf(due, now)
  const met = isReplaced
    ? ({ reason: 'collapsed', rule: 'round:check', detail: 'the new list' } as const)
    : ({ reason: 'missed', rule: 'catch-up:skip', detail: 'the round was stopped' } as const)
  const ranges = [...held, ...rangesOf(due, { schedule, stretches: clear, met })]
  if (!isReplaced || cycle === undefined) return tickOf(due, { now, ranges })
  const skipped = cycle.queue.map(replaced)
  const rest = { ...cycle, queue: [], skipped: [...cycle.skipped, ...skipped] }
  const stateChanges =
    cycle.current === null
      ? [cycleChange(due, undefined), ...lastCheckEntry(due, rest), ...keptDeadlines(rest, now)]
      : [cycleChange(due, rest)]
  return tickOf(due, { now, ranges: [...laterRanges(due, cycle, skipped), ...ranges], stateChanges })
}

/** The cycle after this tick, and the ledger ranges of skipped services. */
interface Continued {
  readonly cycle: Cycle | undefined
  readonly turn: Turn | undefined
  readonly ranges: readonly LedgerRange[]
  readonly notice?: readonly CheckNotice[] | undefined
  /** The cycle that is over because no remaining service is due. */
  readonly over?: Cycle | undefined
}

/** The next service: its run, its timing with the in-flight mark, and the cycle that waits for it. */
interface Turn {
  readonly cycle: Cycle
  readonly run: NewRun
  readonly service: RoundService
  readonly timing: ServiceTiming
}

/** Starts the next service of the open cycle if the previous one has ended. */
function continueCycle(due: DueTrigger, facts: RoundFacts, now: Instant): Continued {
  const cycle = facts.cycle?.value
  if (cycle === undefined || cycle.current !== null) return { cycle, turn: undefined, ranges: [] }
  const resumed = cycle.resumed || facts.isResumed
  const { turn, skipped } = nextTurn(due, { ...cycle, resumed }, { facts, now })
  const ranges = laterRanges(due, cycle, skipped)
  const dueAt = cycle.dueAt ?? cycle.checkedAt
  const notice: CheckNotice[] = skipped.length === 0 ? [] : [{ dueAt, rule: 'round:later', due: [], skipped }]
  if (turn !== undefined) return { cycle: turn.cycle, turn, ranges, notice }
  return {
    cycle: undefined,
    turn,
    ranges,
    notice,
    over: { ...cycle, resumed, skipped: [...cycle.skipped, ...skipped] },
  }
}

/** The first service of the queue that is due at the check; those before it are skipped with a reason. */
function nextTurn(
  due: DueTrigger,
  cycle: Cycle,
  { facts, now }: { facts: RoundFacts; now: Instant },
): { turn: Turn | undefined; skipped: readonly SkippedService[] } {
  const skipped: SkippedService[] = []
  for (const [index, name] of cycle.queue.entries()) {
    const service = due.trigger.round?.services.find(({ job }) => job === name)
    const timing = service && listedTiming(due.trigger, service, facts.timings.get(name)?.value)
    const skip = timing === undefined ? replaced(name) : whyNotDue(name, timing, cycle.checkedAt)
    if (skip !== undefined) skipped.push(skip)
    else if (service !== undefined && timing !== undefined) {
      const rest = { ...cycle, queue: cycle.queue.slice(index + 1), skipped: [...cycle.skipped, ...skipped] }
      return { turn: begin(due, { cycle: rest, service, timing }, { facts, now }), skipped }
    }
  }
  return { turn: undefined, skipped }
}

function begin(
  due: DueTrigger,
  { cycle, service, timing }: { cycle: Cycle; service: RoundService; timing: ServiceTiming },
  { facts, now }: { facts: RoundFacts; now: Instant },
): Turn {
  const { checkedAt } = cycle
  const run = newServiceRun(due, jobNamed(facts, service.job), { checkedAt, now })
  const inFlight = { run: run.id, round: due.trigger.name }
  const triedAt = Math.max(timing.triedAt ?? checkedAt, checkedAt)
  return {
    cycle: { ...cycle, current: { service: service.job, run: run.id } },
    run,
    service,
    timing: { ...timing, inFlight, triedAt },
  }
}

/** The checks since the cursor: the ranges that were held back, and the stretches without a hold. */
interface Checks {
  readonly schedule: Schedule
  readonly held: readonly LedgerRange[]
  readonly clear: readonly Stretch[]
  readonly firstAt: Instant | undefined
  readonly lastAt: Instant | undefined
}

function checksOf(due: DueTrigger, now: Instant): Checks {
  const schedule = scheduleOf(due.trigger.schedule)
  const held = cutHolds({ due, schedule, until: now })
  const { clear, ranges } = cutCalendar({ due, schedule, clear: held.clear })
  const within = clear.flatMap((stretch) => instantsWithin(schedule, stretch) ?? [])
  return {
    schedule,
    held: [...held.ranges, ...ranges],
    clear,
    firstAt: within[0]?.firstAt,
    lastAt: within.at(-1)?.lastAt,
  }
}

/** The tick of a round with an open cycle: a check that is on time is an overlap, a late one stays due until the cycle is over. */
function tickDuringCycle(
  due: DueTrigger,
  { next, checks, now, facts }: { next: Continued; checks: Checks; now: Instant; facts: RoundFacts },
): Tick {
  const { schedule, held, clear, firstAt } = checks
  const { turn, cycle } = next
  const stateChanges = turn === undefined ? [] : [...cycleEntry(due, facts, cycle), timingEntry(facts, turn)]
  const begun = { now, runs: turn?.run, stateChanges, checks: next.notice ?? [] }
  if (firstAt !== undefined && isCheckedAfterCycle(due.trigger, firstAt, now))
    return tickOf(due, { ...begun, ranges: next.ranges, cursorAt: due.cursorAt })
  const met = { reason: 'overlap', rule: 'round:overlap', blocker: cycle?.current?.run } as const
  const overlapped = rangesOf(due, { schedule, stretches: clear, met })
  return tickOf(due, { ...begun, ranges: [...next.ranges, ...held, ...overlapped] })
}

/** Whether a check is made after the cycle: it was missed during downtime, or a new list needs it. */
function isCheckedAfterCycle({ schedule, catchUp }: Trigger, firstAt: Instant, now: Instant): boolean {
  const alsoAt = schedule.kind === 'interval' ? schedule.alsoAt : undefined
  return now - firstAt > catchUp.graceMs || (alsoAt !== undefined && firstAt <= alsoAt && alsoAt <= now)
}

interface Checked {
  readonly turn: Turn | undefined
  readonly ranges: readonly LedgerRange[]
  readonly stateChanges: readonly StateChange[]
  readonly notice?: readonly CheckNotice[] | undefined
  /** The cycle that was never opened because nothing was due. */
  readonly empty?: Cycle | undefined
}

/** The newest check is made, and those before it are collapsed into it. */
function check(
  due: DueTrigger,
  { checks, now, facts }: { checks: Checks; now: Instant; facts: RoundFacts },
): Checked {
  const { schedule, held, clear, lastAt } = checks
  if (lastAt === undefined) return { turn: undefined, ranges: held, stateChanges: [] }
  const checkedAt = onGrid(due.trigger, lastAt)
  const queue = due.trigger.round?.services ?? []
  const found = queue.map((service) => {
    const timing = listedTiming(due.trigger, service, facts.timings.get(service.job)?.value)
    return { service, timing, skip: whyNotDue(service.job, timing, checkedAt) }
  })
  const skipped = found.flatMap(({ skip }) => skip ?? [])
  const names = found.filter(({ skip }) => skip === undefined).map(({ service }) => service.job)
  const cycle: Cycle = {
    checkedAt,
    ...(lastAt === checkedAt ? {} : { dueAt: lastAt }),
    beganAt: now,
    queue: names,
    current: null,
    results: [],
    skipped,
    resumed: false,
  }
  const turn = withDeadlines(due, nextTurn(due, cycle, { facts, now }).turn, lastAt)
  const older = clear.map(({ after, until }) => ({ after, until: Math.min(until, lastAt - 1) }))
  const met = { reason: 'collapsed', rule: 'round:check', detail: formatInstant(lastAt) } as const
  return {
    turn,
    empty: turn === undefined ? cycle : undefined,
    notice: [{ dueAt: lastAt, rule: 'round:check', due: names, skipped }],
    ranges: [
      ...held,
      ...rangesOf(due, { schedule, stretches: older, met }),
      checkedRange(due, lastAt, formatCheck(names, skipped)),
    ],
    stateChanges: [
      ...(turn === undefined ? [] : openDeadlines(turn.cycle)),
      ...found.flatMap(({ service, timing }) => {
        if (turn?.service.job === service.job) return [timingEntry(facts, turn)]
        // A service has a timing from its first check on, so that commands can show it.
        const isKnown = facts.timings.get(service.job)?.value === timing
        return isKnown ? [] : [timingEntry(facts, { service, timing })]
      }),
    ],
  }
}

/** The first service of a cycle, with the deadlines of the check. */
function withDeadlines({ trigger }: DueTrigger, turn: Turn | undefined, dueAt: Instant): Turn | undefined {
  if (turn === undefined || trigger.sla === undefined) return turn
  const { ofRun, ofCycle } = checkDeadlines(trigger, turn.run, dueAt)
  const deadlines = [...(turn.run.deadlines ?? []), ...ofRun]
  return {
    ...turn,
    run: deadlines.length === 0 ? turn.run : { ...turn.run, deadlines },
    cycle: ofCycle.length === 0 ? turn.cycle : { ...turn.cycle, deadlines: ofCycle },
  }
}

function replaced(service: string): SkippedService {
  return { service, reason: 'replaced' }
}

function jobNamed({ jobs }: RoundFacts, name: string): Job {
  const job = jobs.get(name)
  if (job === undefined) throw new Error(`the service ${name} is not a job of this store`)
  return job
}

/** The ranges of services that are skipped after the check was recorded. */
function laterRanges(
  due: DueTrigger,
  { checkedAt, dueAt = checkedAt }: Cycle,
  skipped: readonly SkippedService[],
): LedgerRange[] {
  if (skipped.length === 0) return []
  return [{ ...checkedRange(due, dueAt, formatCheck([], skipped)), rule: 'round:later' }]
}

function checkedRange(due: DueTrigger, at: Instant, detail: string): LedgerRange {
  const { version, trigger } = due
  return {
    trigger: trigger.name,
    version,
    firstAt: at,
    lastAt: at,
    reason: 'checked',
    rule: 'round:check',
    detail,
  }
}

function rangesOf(
  due: DueTrigger,
  input: {
    schedule: Schedule
    stretches: readonly Stretch[]
    met: Pick<LedgerRange, 'reason' | 'rule' | 'blocker' | 'detail'>
  },
): LedgerRange[] {
  return input.stretches.flatMap((stretch) => {
    const within = instantsWithin(input.schedule, stretch)
    if (within === undefined) return []
    return [{ trigger: due.trigger.name, version: due.version, ...within, ...input.met }]
  })
}

/** The change of the cycle's state entry, if there is one. */
function cycleEntry(due: DueTrigger, facts: RoundFacts, cycle: Cycle | undefined): StateChange[] {
  if (cycle === undefined && facts.cycle === undefined) return []
  return [{ ...cycleChange(due, cycle), revision: facts.cycle?.revision ?? 0 }]
}

function lastCheckEntry({ trigger }: DueTrigger, cycle: Cycle | undefined): StateChange[] {
  return cycle === undefined ? [] : [lastCheckChange(trigger.name, cycle)]
}

function cycleChange(due: DueTrigger, cycle: Cycle | undefined): StateChange {
  return { kind: 'cycle', name: due.trigger.name, item: '', value: cycle as unknown as Json | undefined }
}

function timingEntry(facts: RoundFacts, { service, timing }: Pick<Turn, 'service' | 'timing'>): StateChange {
  const revision = facts.timings.get(service.job)?.revision ?? 0
  return { kind: 'service', name: service.job, item: '', value: timing as unknown as Json, revision }
}

function tickOf(
  due: DueTrigger,
  given: {
    now: Instant
    cursorAt?: Instant
    nextAt?: Instant | undefined
    runs?: NewRun | undefined
    ranges?: readonly LedgerRange[]
    stateChanges?: readonly StateChange[]
    checks?: readonly CheckNotice[]
  },
): Tick {
  const { now, runs } = given
  const plannedAt = Math.max(due.cursorAt, now)
  return {
    trigger: due.trigger.name,
    revision: due.revision,
    at: now,
    cursorAt: given.cursorAt ?? plannedAt,
    nextAt:
      'nextAt' in given
        ? given.nextAt
        : nextLook(due.trigger.schedule, scheduleOf(due.trigger.schedule), plannedAt),
    chainRun: undefined,
    runs: runs === undefined ? [] : [runs],
    ranges: given.ranges ?? [],
    supersede: undefined,
    stateChanges: given.stateChanges ?? [],
    checks: given.checks ?? [],
  }
}
