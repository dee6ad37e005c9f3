import { expect, it } from 'vitest'
import { defineRound } from '../../../src/features/rounds/definition.js'
import { serviceEffect } from '../../../src/features/rounds/end-effect.js'
import { roundKind } from '../../../src/features/rounds/kind.js'
import { slaLoop } from '../../../src/features/sla/loop.js'
import { timedKinds } from '../../../src/engine/timed/kinds.js'
import { kindsOf } from '../../../src/engine/trigger-kind.js'
import { endEffectsOf } from '../../../src/kernel/run/end-effect.js'
import { breachOf } from '../../../src/kernel/sla/deadline.js'
import { openMemoryStore } from '../../../src/store/memory/memory-store.js'
import { emptyTables } from '../../../src/store/memory/tables.js'
import { simulate } from '../../../src/testing/simulation.js'
import { HOUR_MS, MINUTE_MS } from '../../../src/time/civil.js'

const seed = Number(process.env['SEED'] ?? 20260105)

it(`each late check of a round is reported exactly once, whichever process is killed, and whenever (seed ${seed})`, async () => {
  const tables = emptyTables(endEffectsOf([serviceEffect]))
  const withinMs = 3 * MINUTE_MS
  const sla = { finishedWithin: withinMs, notOlderThan: '30m' }
  const round = defineRound('shop', { every: '10m', services: ['orders', 'stock', 'prices'], sla })
  const { store, endAt, broken, crashes } = await simulate({
    seed,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: 8 * HOUR_MS,
    triggers: [round],
    kinds: kindsOf([...timedKinds.values(), roundKind]),
    processes: 2,
    crashEveryMs: 12 * MINUTE_MS,
    stepEveryMs: Infinity,
    leaseMs: 30_000,
    failure: 0.3,
    loops: [slaLoop],
    open: () => Promise.resolve(openMemoryStore(tables)),
  })
  expect(broken).toEqual([])
  expect(crashes).toBeGreaterThan(5)
  const found = (await store.stateEntries({ kind: 'breach', limit: 10_000 })).map(breachOf)
  const ends = new Map<number, { endAt: number; isDone: boolean }>()
  for (const { dueAt, finishedAt, state } of await store.runs({ trigger: 'shop', limit: 10_000 })) {
    const known = ends.get(dueAt)
    ends.set(dueAt, {
      endAt: Math.max(known?.endAt ?? 0, finishedAt ?? Infinity),
      isDone: (known?.isDone ?? true) && state === 'done',
    })
  }
  const late = [...ends].filter(([dueAt, one]) => one.endAt > dueAt + withinMs && dueAt < endAt - HOUR_MS)
  const told = found.filter(({ rule, dueAt }) => rule === 'finished-within' && dueAt < endAt - HOUR_MS)
  const sorted = (instants: readonly number[]): number[] => instants.toSorted((a, b) => a - b)
  expect(sorted(told.map(({ dueAt }) => dueAt))).toEqual(sorted(late.map(([dueAt]) => dueAt)))
  expect(late.length).toBeGreaterThan(3)
  const startedAt = (await store.triggers({ names: ['shop'] }))[0]?.definedAt as number
  const successes = [...ends.values()].filter(({ isDone }) => isDone).map((one) => one.endAt)
  const marks = [startedAt, ...sorted(successes), endAt]
  const gaps = marks.filter((at, i) => (marks[i + 1] ?? at) > at + 30 * MINUTE_MS)
  const old = found.filter(({ rule }) => rule === 'not-older-than')
  expect(sorted(old.map(({ dueAt }) => dueAt))).toEqual(gaps)
}, 120_000)
