import { expect } from 'vitest'
import type { NewRun } from '../../../kernel/run/run.js'
import { aJob, aRun, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

/** Ids and unique keys. */
export function uniqueLaws(law: Law): void {
  law('an existing id is returned and not inserted again', async (stage) => {
    await stage.ready()
    expect(await put(stage, aRun('r'))).toEqual({ id: aRun('r').id, created: true })
    expect(await put(stage, aRun('r', { priority: 9 }))).toEqual({ id: aRun('r').id, created: false })
    expect(await stage.run(aRun('r').id)).toMatchObject({ priority: 0 })
  })

  law('a unique key returns the run that holds it, as long as that is unfinished', async (stage) => {
    await stage.ready()
    const first = aRun('1', { uniqueKey: 'k' })
    await stage.enqueue([first])
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }))).toEqual({ id: first.id, created: false })
    const claim = await stage.claimOne('w', t0)
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }))).toEqual({ id: first.id, created: false })
    await stage.finish('w', claim, { outcome: outcomes.again(t0 + 5), at: t0 })
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }))).toEqual({ id: first.id, created: false })
    await stage.finish('w', await stage.claimOne('w', t0 + 5), { outcome: outcomes.done, at: t0 + 5 })
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }))).toEqual({ id: aRun('2').id, created: true })
    expect(await put(stage, aRun('3', { uniqueKey: 'k' }))).toEqual({ id: aRun('2').id, created: false })
  })

  law('a unique key is taken until its instant even after the run is final', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1', { uniqueKey: 'k', uniqueUntil: t0 + minute })])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 })
    const second = aRun('2', { uniqueKey: 'k' })
    expect(await put(stage, second, t0 + minute - 1)).toEqual({ id: aRun('1').id, created: false })
    expect(await put(stage, second, t0 + minute)).toEqual({ id: second.id, created: true })
  })

  law('an unfinished run keeps its unique key past the instant', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1', { uniqueKey: 'k', uniqueUntil: t0 + 1 })])
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }), t0 + minute)).toEqual({
      id: aRun('1').id,
      created: false,
    })
  })

  law('unique keys belong to their job', async (stage) => {
    await stage.jobs([aJob('a'), aJob('b')])
    const runs = [aRun('1', { job: 'a', uniqueKey: 'k' }), aRun('2', { job: 'b', uniqueKey: 'k' })]
    const answers = await stage.store.enqueue({ runs, now: t0 })
    expect(answers.map(({ created }) => created)).toEqual([true, true])
  })

  law('a batch sees its own earlier runs', async (stage) => {
    await stage.ready()
    const runs = [aRun('1', { uniqueKey: 'k' }), aRun('2', { uniqueKey: 'k' }), aRun('1')]
    expect(await stage.store.enqueue({ runs, now: t0 })).toEqual([
      { id: aRun('1').id, created: true },
      { id: aRun('1').id, created: false },
      { id: aRun('1').id, created: false },
    ])
  })

  law('a retried run holds its unique key again', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('1', { uniqueKey: 'k' })])
    await stage.store.cancel({ run: aRun('1').id, now: t0, reason: '' })
    await stage.store.retry({ run: aRun('1').id, now: t0 })
    expect(await put(stage, aRun('2', { uniqueKey: 'k' }))).toEqual({ id: aRun('1').id, created: false })
  })
}

async function put(stage: Stage, run: NewRun, now = t0): Promise<unknown> {
  const [answer] = await stage.store.enqueue({ runs: [run], now })
  return answer
}
