import { expect, it } from 'vitest'
import { newRun, readEnqueueOptions, type EnqueueOptions } from '../../src/app/runs/enqueue.js'
import { backfillLoop } from '../../src/engine/backfill/backfill-loop.js'
import { startBackfill } from '../../src/engine/backfill/perform-backfill.js'
import { storeBackfill } from '../../src/engine/backfill/stored-backfills.js'
import { triggerBackfill } from '../../src/engine/backfill/trigger-backfill.js'
import { planTriggerBackfill } from '../../src/engine/backfill/trigger-plan.js'
import { coverageOf } from '../../src/engine/explain/coverage.js'
import type { FeatureLoop, FeatureLoopContext } from '../../src/engine/feature-loop.js'
import type { HoldTarget } from '../../src/kernel/hold/hold.js'
import { jobDefaults, type Job } from '../../src/kernel/job/job.js'
import { burstLabels } from '../../src/kernel/run/burst.js'
import { defineTrigger } from '../../src/kernel/trigger/define-trigger.js'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { SeededRandom } from '../../src/testing/random.js'
import { simulate } from '../../src/testing/simulation.js'
import { formatInstant } from '../../src/time/instant.js'
import { endEffects, kinds } from '../fixtures/feature-parts.js'

const seed = Number(process.env['SEED'] ?? 80)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const startAt = Date.UTC(2026, 0, 5)
const bursts: Job = { ...jobDefaults, name: 'bursts', maxCrashes: 1_000_000 }

const targets: readonly HoldTarget[] = [
  'trigger:often',
  'queue:default',
  'all',
  'switch:scheduler',
  'switch:worker',
]

/** What people do to a store meanwhile; their processes crash like all others. */
function operators(random: SeededRandom, asked: { debounce: number; throttle: number }): FeatureLoop {
  let nextAt = 0
  return {
    name: 'operators',
    begin: ({ store, guard }: FeatureLoopContext) => ({
      step: async () => {
        const now = guard.now()
        // Every change wakes all loops, this one too.
        if (now < nextAt) return { at: nextAt }
        nextAt = now + random.int(2, 20) * minuteMs
        const target = random.pick(targets as [HoldTarget, ...HoldTarget[]])
        const open = await store.holds({ openAt: now })
        for (const hold of open)
          await store.release({ target: hold.target, now, catchUp: random.chance(0.5) })
        if (random.chance(0.4)) await store.hold({ target, now, actor: 'ann', note: 'a test' })
        const key = random.pick(['a', 'b'])
        const rules: readonly [keyof typeof asked, EnqueueOptions][] = [
          ['debounce', { debounce: { key, wait: '5m', max: '30m' } }],
          ['throttle', { throttle: { key, per: '20m' } }],
        ]
        for (const [kind, options] of rules) {
          const terms = readEnqueueOptions(options, now)
          await store.enqueue({ runs: [newRun({ job: bursts, payload: {}, terms, now })], now })
          asked[kind] += 1
        }
        return { at: nextAt }
      },
      stop: () => Promise.resolve(),
    }),
  }
}

it(`holds, switches, bounds, bursts and a backfill leave nothing unexplained, under kills (seed ${seed})`, async () => {
  const tables = emptyTables(endEffects)
  const asked = { debounce: 0, throttle: 0 }
  const everyOne = { job: 'work', catchUp: { mode: 'all', maxRuns: 1000 }, overlap: 'queue-all' } as const
  const [start, end] = [startAt + 3 * hourMs, startAt + 20 * hourMs].map((at) => new Date(at))
  let isPlanned = false
  const report = await simulate({
    seed,
    startAt,
    durationMs: 36 * hourMs,
    triggers: [
      defineTrigger('often', { job: 'work', cron: '*/5 * * * *', jitter: '2m', spread: '1m' }),
      defineTrigger('counted', { ...everyOne, every: '7m', count: 50 }),
      defineTrigger('bounded', { ...everyOne, cron: '*/10 * * * *', start, end }),
      defineTrigger('past', { job: 'work', cron: '0 * * * *', timezone: 'UTC', overlap: 'allow' }),
    ],
    jobs: [bursts],
    kinds,
    loops: [backfillLoop([triggerBackfill]), operators(new SeededRandom(seed), asked)],
    // The first process plans a backfill of the day before, and may crash before all of it is recorded.
    prepare: async (store, now) => {
      if (isPlanned) return
      isPlanned = true
      const range = { from: formatInstant(startAt - 24 * hourMs), to: formatInstant(startAt - 1) }
      const options = { ...range, definition: 'current', only: 'all', pace: '2/1h', concurrency: 1 } as const
      const plan = await planTriggerBackfill(store, { kinds, trigger: 'past', options, now })
      const about = { ...plan.backfill, items: plan.items, by: 'ann', reason: null }
      const { id } = await storeBackfill(store, { ...about, now })
      await startBackfill(store, { kinds: [triggerBackfill], id, now })
    },
    open: async () => openMemoryStore(tables),
    processes: 2,
    crashEveryMs: hourMs,
    stepEveryMs: Infinity,
    leaseMs: 20 * minuteMs,
    failure: 0.1,
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(10)
  const { store } = report
  const runs = [...tables.runs.values()]

  const explained: Record<string, number> = {}
  for (const trigger of await store.triggers()) {
    const coverage = await coverageOf(store, trigger, { kinds })
    for (const [reason, count] of Object.entries(coverage.explained))
      explained[reason] = (explained[reason] ?? 0) + count
    if (trigger.trigger.name === 'counted') expect(coverage.due).toBe(50)
    if (trigger.trigger.name === 'bounded') expect(coverage.due).toBe(17 * 6 + 1)
  }
  for (const reason of ['paused', 'frozen', 'switch'] as const) expect(explained[reason]).toBeGreaterThan(0)

  for (const kind of ['debounce', 'throttle'] as const) {
    const own = runs.filter(({ uniqueKey = '' }) => uniqueKey.startsWith(`${kind}:`))
    const counted = own.reduce((sum, { labels }) => sum + 1 + Number(labels?.[burstLabels[kind]] ?? 0), 0)
    // An enqueue whose answer was lost with its process may still exist.
    expect(counted).toBeGreaterThanOrEqual(asked[kind])
    expect(counted).toBeLessThanOrEqual(asked[kind] + report.crashes)
    expect(own.length).toBeLessThan(counted)
  }
  for (const key of ['a', 'b']) {
    const times = runs.filter(({ uniqueKey }) => uniqueKey === `throttle:${key}`).map(({ dueAt }) => dueAt)
    const gaps = times.toSorted((a, b) => a - b).map((at, i, all) => at - (all[i - 1] ?? -Infinity))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20 * minuteMs)
  }

  const again = runs.filter(({ origin }) => origin === 'backfill')
  expect(new Set(again.map(({ dueAt }) => dueAt)).size).toBe(24)
  expect(again).toHaveLength(24)
  const beganAt = Math.min(...again.map(({ runAt }) => runAt))
  for (const { attempts, dueAt } of again) {
    const place = (dueAt - (startAt - 24 * hourMs)) / hourMs
    expect(attempts[0]?.claimedAt).toBeGreaterThanOrEqual(beganAt + place * 30 * minuteMs)
  }
}, 300_000)
