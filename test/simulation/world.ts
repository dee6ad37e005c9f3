import { assetQueue, type AssetJob } from '../../src/kernel/partition/asset.js'
import { defineJob } from '../../src/kernel/job/define-job.js'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import { custom, daily, hourly, monthly } from '../../src/kernel/partition/define.js'
import type { PartitionRule } from '../../src/kernel/partition/rule.js'
import type { PartitionSpec } from '../../src/kernel/partition/spec.js'
import type { CatchUpPolicy, OverlapPolicy, Trigger } from '../../src/kernel/trigger/trigger.js'
import type { CalendarSpec } from '../../src/kernel/calendar/calendar.js'
import type { SeededRandom } from '../../src/testing/random.js'

const zones = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
] as const
const overlaps = ['allow', 'skip', 'queue-one', 'queue-all', 'cancel-running', 'terminate-running'] as const

/** This many different triggers, drawn from the seed: every kind of schedule, zone, catch-up and overlap. */
export function drawTriggers(count: number, random: SeededRandom): Trigger[] {
  return Array.from({ length: count }, (_, index) =>
    excluding(drawTrigger(`trigger-${index}`, random), index),
  )
}

const weekend: CalendarSpec = { weekdays: [0, 6] }
const holidays: CalendarSpec = {
  yearly: ['01-01', '05-01', '12-25', '12-26'],
  local: [[Date.UTC(2026, 2, 27), Date.UTC(2026, 3, 7)]],
}
const nights: CalendarSpec = { windows: [{ cron: '0 22 * * *', forMs: 5 * 3_600_000 }] }

/** Three of five triggers have calendars or blackouts, by their number, so that the others stay as they were drawn. */
function excluding(trigger: Trigger, index: number): Trigger {
  const { schedule } = trigger
  const timezone = schedule.kind === 'cron' ? schedule.timezone : 'Europe/Berlin'
  const exclude = [
    { name: 'holidays', times: holidays },
    { name: 'weekend', times: weekend },
  ]
  const rules = [
    { timezone, exclude },
    { timezone, blackouts: [{ note: 'backup', times: nights }], exclude: exclude.slice(0, 1) },
    schedule.kind === 'after-finish'
      ? { timezone, include: [{ name: 'nights', times: nights }] }
      : { timezone, exclude, onExcluded: 'next-day' as const },
  ][index % 5]
  return rules === undefined ? trigger : { ...trigger, schedule: { ...schedule, calendar: rules } }
}

/** Triggers of assets without partitions for some days of the simulation: before the first, after the last, every other day. */
export function drawAssets(
  { count, startAt, days }: { count: number; startAt: number; days: number },
  random: SeededRandom,
): { readonly assets: readonly AssetJob[]; readonly triggers: readonly Trigger[] } {
  const dayAt = (part: number): string =>
    new Date(startAt + part * days * 86_400_000).toISOString().slice(0, 10)
  const everyOther = Array.from({ length: Math.ceil(days / 2) }, (_, index) => dayAt((index * 2) / days))
  const drawn = Array.from({ length: count }, (_, index) => {
    const start = dayAt(random.next() / 2)
    const end = dayAt(0.5 + random.next() / 2)
    const [spec, rule] = random.pick<[PartitionSpec, PartitionRule | undefined]>([
      [daily({ start, end }), undefined],
      [daily({ start, end, previous: true }), undefined],
      [daily({ start, end, timezone: 'America/New_York' }), 'day'],
      [hourly({ start: `${start}T07:00Z`, end: `${end}T22:00Z` }), 'previous'],
      [monthly({ start: start.slice(0, 7), end: end.slice(0, 7) }), 'month'],
      [custom(everyOther), 'day'],
      [custom(everyOther), 'previous-day'],
    ])
    const overlap = random.pick([...overlaps])
    const mode = random.pick<CatchUpPolicy['mode']>(
      overlap === 'skip' ? ['skip', 'latest'] : ['latest', 'all'],
    )
    const cron = random.pick(['0 2 * * *', '15 */6 * * *', '*/15 22-23,0-1 * * *'])
    const job = `asset-${index}`
    return {
      asset: {
        ...defineJob(job, { queue: assetQueue, handler: () => undefined }),
        asset: { partitions: spec, deps: [] },
      },
      trigger: defineTrigger(job, {
        job,
        overlap,
        cron,
        partition: rule,
        catchUp: mode === 'all' ? { mode, maxRuns: 5 } : mode,
      }),
    }
  })
  return { assets: drawn.map(({ asset }) => asset), triggers: drawn.map(({ trigger }) => trigger) }
}

function drawTrigger(name: string, random: SeededRandom): Trigger {
  const overlap: OverlapPolicy = random.pick([...overlaps])
  const mode = random.pick<CatchUpPolicy['mode']>(
    overlap === 'skip' ? ['skip', 'latest'] : ['skip', 'latest', 'all'],
  )
  const common = {
    job: 'work',
    overlap,
    catchUp: mode === 'all' ? { mode, maxRuns: 5 } : mode,
    jitter: random.pick(['0s', '2m']),
  } as const
  switch (random.int(0, 9)) {
    case 0:
      return defineTrigger(name, {
        ...common,
        every: random.pick(['3h', '7h', '31h']),
        immediate: random.chance(0.5),
      })
    case 1:
      return defineTrigger(name, { ...common, every: random.pick(['5h', '26h']), after: 'finish' })
    case 2:
      return defineTrigger(name, {
        ...common,
        at: new Date(Date.UTC(2026, random.int(0, 11), random.int(1, 28))),
      })
    default:
      return defineTrigger(name, { ...common, cron: drawCron(random), timezone: random.pick([...zones]) })
  }
}

function drawCron(random: SeededRandom): string {
  const minute = random.pick(['0', '30', '15,45', String(random.int(0, 59))])
  const hour = String(random.pick([0, 1, 2, 3, random.int(0, 23)]))
  return random.pick([
    `${minute} ${hour} * * *`,
    `${minute} ${hour} * * *`,
    `${minute} ${hour} * * 1-5`,
    `${minute} ${hour} 1,15 * *`,
    `${minute} ${hour} L * *`,
    `0 */6 * * *`,
  ])
}
