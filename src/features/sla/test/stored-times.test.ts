import { expect, it } from 'vitest'
import type { FeatureLoopContext } from '../../../engine/feature-loop.js'
import type { RunDeadline } from '../../../kernel/run/run.js'
import type { Breach } from '../../../kernel/sla/deadline.js'
import { aRun, outcomes, Stage, t0 } from '../../../store/conformance/stage.js'
import { openMemoryStore } from '../../../store/memory/memory-store.js'
import { emptyTables } from '../../../store/memory/tables.js'
import { slaLoop } from '../loop.js'

const withinMs = 1000
const deadlineAt = t0 + withinMs

/** A run with a promise, a worker, and a loop whose steps the test calls. */
async function stageWith(rule: RunDeadline['rule']) {
  const store = openMemoryStore(emptyTables())
  const stage = new Stage({ store, reopen: async () => store, dispose: () => store.close() })
  await stage.ready({}, 100 * 3_600_000)
  const deadline: RunDeadline = { rule, of: 'job', name: 'work', deadlineAt, withinMs }
  await stage.enqueue([aRun('a', { deadlines: [deadline] })])
  const told: Breach[] = []
  let now = t0
  const context = {
    store,
    guard: { now: () => now },
    events: { emit: (_: string, breach: Breach) => void told.push(breach) },
  } as unknown as FeatureLoopContext
  const loop = slaLoop.begin(context)
  /** Advances the clock from step to step, as the engine does; returns the number of steps. */
  const passTo = async (at: number): Promise<number> => {
    for (let judged = 0; ; ) {
      const look = await loop.step()
      if ('afterMs' in look && look.afterMs === 0) judged++
      else {
        const nextAt = 'at' in look ? look.at : Infinity
        if (nextAt > at) {
          now = at
          return judged
        }
        now = nextAt
      }
    }
  }
  const left = async (): Promise<number> => (await store.stateEntries({ kind: 'deadline', limit: 9 })).length
  return { stage, passTo, told, left }
}

it('a run that was claimed in time and began too late in its worker breaks its promise', async () => {
  const { stage, passTo, told, left } = await stageWith('started-within')
  const claim = await stage.claimOne('w', t0 + 900)
  await passTo(t0 + 2000)
  expect(told).toEqual([])
  await stage.finish('w', claim, { outcome: outcomes.done, startedAt: deadlineAt + 1, at: t0 + 5000 })
  await passTo(t0 + 60_000)
  expect(told).toMatchObject([{ rule: 'started-within', deadlineAt, dueAt: t0 }])
  expect(Object.keys(told[0] ?? {})).not.toContain('lookAt')
  expect(await left()).toBe(0)
})

it('a claim that a worker released before it began keeps no promise', async () => {
  const { stage, passTo, told, left } = await stageWith('started-within')
  const claim = await stage.claimOne('w', t0 + 100)
  await stage.finish('w', claim, { outcome: outcomes.released(t0), at: t0 + 900 })
  await passTo(deadlineAt + 1)
  expect(told).toMatchObject([{ rule: 'started-within', at: deadlineAt + 1 }])
  expect(await left()).toBe(0)
})

it('a run that was claimed in time by a worker that died has begun', async () => {
  const { stage, passTo, told, left } = await stageWith('started-within')
  const claim = await stage.claimOne('w', t0 + 900)
  await passTo(deadlineAt + 1)
  await stage.finish('w', claim, { outcome: outcomes.lost(t0 + 5000), at: t0 + 5000 })
  await passTo(t0 + 60_000)
  expect([told, await left()]).toEqual([[], 0])
})

it('a run that began in time is checked only a few times, however long it takes', async () => {
  const { stage, passTo, told, left } = await stageWith('started-within')
  const claim = await stage.claimOne('w', t0 + 900)
  const dayMs = 24 * 3_600_000
  expect(await passTo(t0 + 60_000)).toBeLessThanOrEqual(5)
  expect(await passTo(t0 + dayMs)).toBeLessThanOrEqual(29)
  await stage.finish('w', claim, { outcome: outcomes.done, startedAt: deadlineAt, at: t0 + dayMs })
  await passTo(t0 + 2 * dayMs)
  expect([told, await left()]).toEqual([[], 0])
})

it('an end that was stored before the check counts with its own time, a later one with the time of storing', async () => {
  const looked = await stageWith('finished-within')
  const ended = await stageWith('finished-within')
  for (const { stage, passTo } of [looked, ended]) {
    const claim = await stage.claimOne('w', t0 + 100)
    if (stage === looked.stage) await passTo(deadlineAt + 1)
    await stage.finish('w', claim, { outcome: outcomes.done, startedAt: t0 + 100, at: deadlineAt })
    await passTo(t0 + 60_000)
  }
  expect(looked.told).toMatchObject([{ rule: 'finished-within', at: deadlineAt + 1 }])
  expect(ended.told).toEqual([])
})
