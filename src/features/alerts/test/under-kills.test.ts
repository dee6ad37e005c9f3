import { expect, it } from 'vitest'
import { defineTrigger } from '../../../kernel/trigger/define-trigger.js'
import { jobDefaults } from '../../../kernel/job/job.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { simulate } from '../../../testing/simulation.js'
import { DAY_MS, HOUR_MS } from '../../../time/civil.js'
import type { StoredRule } from '../rules.js'
import { alertLoop } from '../loop.js'
import type { AlertMessage } from '../message.js'
import { storedAlerts, writeAlerts } from '../rules.js'

const seed = Number(process.env['SEED'] ?? 20260105)

it(`every run that fails for good is reported exactly once, whichever process is killed, and whenever (seed ${seed})`, async () => {
  const startAt = Date.UTC(2026, 0, 5)
  const tables = emptyTables()
  const names = ['a', 'b', 'c', 'd']
  const triggers = names.map((name) =>
    defineTrigger(name, { job: 'work', cron: '*/20 * * * *', overlap: 'allow' }),
  )
  const rule: StoredRule = {
    name: 'all',
    on: ['failure', 'recovery'],
    channels: ['ops', 'mail'],
    jobs: null,
    triggers: null,
    groupMs: 60_000,
    quietMs: 2 * HOUR_MS,
    except: { jobs: [], triggers: ['d'] },
  }
  const alerts = {
    ...storedAlerts({ jobs: new Map(), triggers: new Map() }, { channels: new Map(), rules: new Map() }),
    rules: [rule],
  }
  const report = await simulate({
    seed,
    startAt,
    durationMs: DAY_MS / 4,
    triggers,
    processes: 3,
    crashEveryMs: 10 * 60_000,
    stepEveryMs: Infinity,
    leaseMs: 30_000,
    failure: 0.7,
    jobs: ['ops', 'mail'].map((name) => ({ ...jobDefaults, name: `alert:${name}` })),
    loops: [alertLoop],
    prepare: (store, now) => writeAlerts(store, { source: 'code:simulation', alerts, now }),
    open: () => Promise.resolve(openMemoryStore(tables)),
  })
  expect(report.broken).toEqual([])
  expect(report.crashes).toBeGreaterThan(10)
  const { store } = report
  const failed = (await store.runs({ state: 'failed', limit: 10_000 })).filter(
    ({ job, trigger }) => job === 'work' && trigger !== 'd',
  )
  expect(failed.length).toBeGreaterThan(25)
  for (const job of ['alert:ops', 'alert:mail']) {
    const sent = (await store.runs({ job, limit: 10_000 })).map(
      ({ payload }) => payload as unknown as AlertMessage,
    )
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length)
    const titles = sent.map(({ title }) => title)
    expect(sum(titles, /(\d+) failed runs?/)).toBe(failed.length)
    expect(sum(titles, /(\d+) recover/)).toBeGreaterThan(0)
  }
}, 120_000)

function sum(titles: readonly string[], pattern: RegExp): number {
  return titles.reduce((all, title) => all + Number(pattern.exec(title)?.[1] ?? 0), 0)
}
