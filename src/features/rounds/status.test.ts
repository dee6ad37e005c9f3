import { describe, expect, it } from 'vitest'
import { hour, minute, ten, Theatre } from './test/theatre.js'

describe('a start that changes nothing', () => {
  it('R7: continues the open cycle, as when a program starts again after a crash', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b', 'c')
    await app.start()
    const boot = { every: '1h', services: ['a', { job: 'b', every: '1h' }, { job: 'c', every: '24h' }] }
    await app.rounds.start('r', boot)
    await stage.pass(1)
    await stage.end('a')
    const before = await app.rounds.state('r')
    await app.rounds.start('r', boot)
    await app.rounds.start('r', { every: hour, services: ['a', 'b', { job: 'c', every: '24h' }] })
    await stage.pass(minute)
    expect(await app.rounds.state('r')).toEqual(before)
    await stage.end('b')
    await stage.end('c')
    expect(stage.begun).toEqual(['a', 'b', 'c'])
    await stage.passTo(ten + hour)
    // No check was added, and the grid is the same.
    expect(stage.begun).toEqual(['a', 'b', 'c', 'a'])
    expect(await (await app.store()).versions('r')).toHaveLength(1)
  })

  it('another order, interval or list is a change', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a', 'b'] })
    await app.rounds.start('r', { every: '1h', services: ['b', 'a'] })
    await app.rounds.start('r', { every: '2h', services: ['b', 'a'] })
    await app.rounds.start('r', { every: '2h', services: ['b'] })
    expect(await (await app.store()).versions('r')).toHaveLength(4)
  })
})

describe('the status of a round', () => {
  it('R12: shows the results of a check between two instants of the grid', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b', 'c')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a'] })
    await stage.pass(1)
    await stage.end('a')
    await stage.pass(20 * minute)
    await app.rounds.start('r', { services: ['b', 'a', 'c'] })
    await stage.pass(1)
    await stage.end('b')
    await stage.end('c', new Error('exit 1'))
    expect(await app.rounds.status('r')).toMatchObject({
      checkedAt: new Date(ten),
      currentService: null,
      completedCount: 2,
      results: [
        { service: 'b', status: 'ok' },
        { service: 'c', status: 'error', info: 'exit 1' },
      ],
      skipped: [{ service: 'a', reason: 'not_due', dueAt: new Date(ten + hour) }],
    })
  })

  it('R12: names each service once after a stop and a start within the interval', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a', { job: 'b', every: '24h' }] })
    await stage.pass(1)
    for (const name of ['a', 'b']) await stage.end(name)
    for (let i = 0; i < 2; i++) {
      await app.rounds.stop('r')
      await stage.pass(minute)
      await app.rounds.start('r')
      await stage.pass(minute)
    }
    expect(await app.rounds.status('r')).toMatchObject({
      completedCount: 0,
      results: [],
      skipped: [
        { service: 'a', reason: 'not_due' },
        { service: 'b', reason: 'not_due' },
      ],
    })
  })

  it('R12: names each service that was dropped by a new list during a cycle once', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b', 'c')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a', 'b', 'c'] })
    await stage.pass(1)
    await app.rounds.start('r', { services: ['a', 'c'] })
    await stage.pass(1)
    expect(await app.rounds.status('r')).toMatchObject({
      currentService: 'a',
      remainingServices: [],
      skipped: [
        { service: 'b', reason: 'replaced' },
        { service: 'c', reason: 'replaced' },
      ],
    })
    await stage.end('a')
    await stage.end('c')
    expect(await app.rounds.status('r')).toMatchObject({
      completedCount: 1,
      results: [{ service: 'c', status: 'ok' }],
      skipped: [{ service: 'a', reason: 'not_due' }],
    })
  })

  it('R12: remains when the runs of the last check are pruned', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a'] })
    await stage.pass(1)
    await stage.end('a')
    await app.rounds.stop('r')
    await (await app.store()).prune({ before: ten + hour, limit: 100, now: ten + hour })
    expect(await app.runs.list()).toEqual([])
    expect(await app.rounds.status('r')).toMatchObject({ completedCount: 1, results: [{ service: 'a' }] })
  })

  it('R9: shows a cycle that ended because no remaining service was due', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b')
    await app.start()
    await app.rounds.start('one', { every: '1h', services: ['a', 'b'] })
    await app.rounds.start('two', { every: '1h', services: ['b'] })
    await stage.pass(1)
    await stage.end('b')
    await stage.end('a')
    expect(await app.rounds.state()).toEqual([])
    expect(await app.rounds.status('one')).toMatchObject({
      results: [{ service: 'a', status: 'ok' }],
      skipped: [{ service: 'b', reason: 'not_due' }],
    })
  })
})

describe('why', () => {
  it('shows the services that a round skipped after its check', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b', 'c')
    await app.start()
    await app.rounds.start('r', { every: '1h', services: ['a', 'b'] })
    await stage.pass(minute)
    await app.rounds.start('r', { services: ['c', 'b'] })
    await stage.pass(minute)
    await stage.end('a')
    await app.rounds.start('r', { services: ['b'] })
    await stage.pass(1)
    const { explanations } = await app.why('r', { from: new Date(ten - 1), until: new Date(ten + hour - 1) })
    const told = explanations.flatMap((one) =>
      one.kind === 'range' ? [[one.range.rule, one.range.firstAt.getTime() - ten, one.range.detail]] : [],
    )
    expect(told).toEqual([
      ['round:check', 0, 'due a, b'],
      ['round:later', 0, 'skipped b (replaced)'],
      ['round:check', minute + 1, 'due c, b'],
      ['round:later', minute + 1, 'skipped b (replaced)'],
    ])
  })
})
