import { describe, expect, test } from 'vitest'
import { rota, type Rota } from '../src/app/rota.js'
import { fakeRun } from '../src/testing/fake-run.js'
import { testApp, type WorldOptions } from '../src/testing/test-app.js'
import type { RunContext } from '../src/engine/worker/perform.js'
import { systemClock } from '../src/time/clock.js'

describe('testApp', () => {
  test('a month passes quickly, and every due time is performed', async () => {
    const world = await testApp((options) => {
      const app = rota({ app: 'day', ...options })
      app.cron('daily', '0 3 * * *', () => undefined, { timezone: 'Europe/Berlin' })
      return app
    })
    const before = performance.now()
    await world.advance('28d')
    // With every poll of the loops, this would take minutes.
    expect(performance.now() - before).toBeLessThan(20_000)
    expect(await world.runs({ state: 'done' })).toHaveLength(28)
    const [coverage] = await world.app.coverage()
    expect(coverage).toMatchObject({ due: 28, run: 28, unexplainedCount: 0 })
    await world.close()
  })

  test('drain waits for handlers that wait in real time', async () => {
    const world = await testApp((options) => withJob(options, () => systemClock.sleep(20)))
    await world.app.enqueue('work')
    const [run] = await world.drain()
    expect(run).toMatchObject({ job: 'work', state: 'done' })
    await world.close()
  })

  test('drain names runs that do not end', async () => {
    const world = await testApp((options) => withJob(options, () => options.clock.sleep(60_000)), {
      patienceMs: 50,
    })
    await world.app.enqueue('work', { n: 1 })
    await expect(world.drain()).rejects.toThrow(
      /1 runs could not be drained.*\n {2}work, running, payload {"n":1}/s,
    )
    await world.advance('1m')
    expect(await world.drain()).toEqual([])
    expect(await world.runs({ state: 'done' })).toHaveLength(1)
    await world.close()
  })

  test('drain ignores delayed runs unless it may let time pass', async () => {
    const world = await testApp((options) => withJob(options, () => undefined))
    await world.app.enqueue('work', undefined, { delay: '2h' })
    expect(await world.drain()).toEqual([])
    expect(await world.drain({ delayed: true })).toHaveLength(1)
    expect(world.now).toEqual(new Date('2026-01-01T02:00:00Z'))
    await world.close()
  })

  test('assertions list the existing runs', async () => {
    const world = await testApp((options) => withJob(options, () => undefined))
    await world.app.enqueue('work', { to: 'ada', deep: { a: 1, b: 2 } })
    await world.assertEnqueued({ job: 'work', payload: { deep: { a: 1 } } })
    await expect(world.assertEnqueued({ payload: { to: 'bob' } })).rejects.toThrow(
      /expected a run with {"payload":{"to":"bob"}}, found 0 among these 1:\n {2}work, \w+, payload/,
    )
    await expect(world.refuteEnqueued({ job: 'work' })).rejects.toThrow(/expected 0 runs/)
    await world.close()
  })

  test('a crash after the commit repeats the attempt and nothing else', async () => {
    const attempts: number[] = []
    const world = await testApp((options) =>
      withJob(options, (run) => {
        attempts.push(run.attempt)
        if (run.attempt === 1) world.crash()
      }),
    )
    await world.app.enqueue('work')
    await world.advance('1s')
    expect(world.isCrashed).toBe(true)
    expect(() => world.app).toThrow('restart()')
    await world.restart()
    await expect(world.restart()).rejects.toThrow('crash() first')
    await world.advance('2h')
    expect(attempts).toEqual([1, 2])
    expect(await world.runs()).toMatchObject([{ state: 'done', crashes: 1 }])
    await world.close()
  })

  test('runDue advances to the next due time and reports if there is none', async () => {
    const world = await testApp((options) => withJob(options, () => undefined))
    await expect(world.runDue()).rejects.toThrow('no trigger has a next due time')
    await expect(world.advanceTo('yesterday')).rejects.toThrow('not an instant')
    await expect(world.advanceTo('2025-01-01T00:00:00Z')).rejects.toThrow('already')
    await world.close()
  })
})

test('fakeRun keeps its log and aborts its signal', () => {
  const run = fakeRun({ payload: 7, job: 'a', attempt: 2, partition: '2026-01-01' })
  run.log('one')
  run.log('two', 'warn')
  run.abort('stop')
  expect(run).toMatchObject({ payload: 7, job: 'a', attempt: 2, partition: '2026-01-01', trigger: undefined })
  expect(run.lines).toEqual([
    { level: 'info', text: 'one' },
    { level: 'warn', text: 'two' },
  ])
  expect(run.signal.reason).toBe('stop')
})

function withJob(options: WorldOptions, handler: (run: RunContext) => unknown): Rota {
  const app = rota({ app: 'test', ...options })
  app.job('work', handler)
  return app
}
