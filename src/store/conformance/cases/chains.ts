import { expect } from 'vitest'
import { aTrigger, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

const everyMs = 10 * minute
const me = { actor: 'me', note: '' }

/** After-finish triggers: the end of one run sets the next due instant. */
export function chainLaws(law: Law): void {
  law('while a chained run is unfinished its trigger has no next look', async (stage) => {
    await begin(stage)
    expect(await stage.store.nextTickAt({ now: t0 })).toBeUndefined()
    expect(await stage.stored('t')).toMatchObject({ nextAt: undefined, revision: 2 })
  })

  law('every final state sets the next due instant of the chain, in the same transaction', async (stage) => {
    const run = await begin(stage)
    let now = t0 + minute
    let current = run
    for (const outcome of [outcomes.done, outcomes.failed, outcomes.cancelled]) {
      const claim = await stage.claimOne('w', now)
      expect(claim.run).toBe(current)
      await stage.finish('w', claim, { outcome, at: now })
      const dueAt = now + everyMs
      expect(await stage.stored('t')).toMatchObject({ nextAt: dueAt, chainRun: current })
      now = dueAt + 5
      current = (await stage.tick('t', now)).chainRun ?? ''
      expect(await stage.run(current)).toMatchObject({ dueAt })
    }
    await stage.store.cancel({ run: current, now, reason: 'enough' })
    expect(await stage.stored('t')).toMatchObject({ nextAt: now + everyMs })
  })

  law('a chain counts from the end of the run, not from its report', async (stage) => {
    await begin(stage)
    const claim = await stage.claimOne('w', t0 + 1)
    const finished = [
      { run: claim.run, attempt: 1, outcome: outcomes.done, startedAt: undefined, endedAt: t0 + 3 },
    ]
    await stage.turn('w', t0 + 99, finished)
    expect(await stage.stored('t')).toMatchObject({ nextAt: t0 + 3 + everyMs })
  })

  law('a failed attempt that will be retried does not continue the chain', async (stage) => {
    await begin(stage)
    const claim = await stage.claimOne('w', t0 + 1)
    await stage.finish('w', claim, { outcome: outcomes.again(t0 + 5), at: t0 + 2 })
    expect(await stage.stored('t')).toMatchObject({ nextAt: undefined, revision: 2 })
  })

  law('the end of a chained run makes a tick that was planned before it stale', async (stage) => {
    await begin(stage)
    const before = await stage.stored('t')
    const claim = await stage.claimOne('w', t0 + 1)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 1 })
    expect((await stage.stored('t')).revision).toBe(before.revision + 1)
  })

  law('a retry of a chained run does not touch the chain again', async (stage) => {
    await begin(stage)
    const claim = await stage.claimOne('w', t0 + 1)
    await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + 1 })
    const before = await stage.stored('t')
    await stage.store.retry({ run: claim.run, now: t0 + 2 })
    await stage.finish('w', await stage.claimOne('w', t0 + 2), { outcome: outcomes.done, at: t0 + 3 })
    expect(await stage.stored('t')).toEqual(before)
  })

  law('a pause removes the due instant of a chain, and its release restores it', async (stage) => {
    await begin(stage)
    await stage.finish('w', await stage.claimOne('w', t0 + 1), { outcome: outcomes.done, at: t0 + 1 })
    await stage.store.hold({ target: 'trigger:t', now: t0 + 2, ...me })
    expect((await stage.stored('t')).nextAt).toBeUndefined()
    await stage.store.release({ target: 'trigger:t', now: t0 + 3, catchUp: false })
    expect((await stage.stored('t')).nextAt).toBe(t0 + 1 + everyMs)
  })

  law(
    'a pause, with or without an end, never makes a chain due while its run is unfinished',
    async (stage) => {
      await begin(stage)
      await stage.store.hold({ target: 'trigger:t', now: t0 + 2, untilAt: t0 + 9, ...me })
      expect((await stage.stored('t')).nextAt).toBeUndefined()
      await stage.store.hold({ target: 'trigger:t', now: t0 + 9, ...me })
      await stage.store.release({ target: 'trigger:t', now: t0 + 10, catchUp: false })
      expect((await stage.stored('t')).nextAt).toBeUndefined()
    },
  )

  law('a pause that ends before the due instant of a chain does not bring it forward', async (stage) => {
    await begin(stage)
    await stage.finish('w', await stage.claimOne('w', t0 + 1), { outcome: outcomes.done, at: t0 + 1 })
    await stage.store.hold({ target: 'trigger:t', now: t0 + 2, untilAt: t0 + 9, ...me })
    expect((await stage.stored('t')).nextAt).toBe(t0 + 1 + everyMs)
  })

  law('G3: a run that ends during a pause does not break the chain', async (stage) => {
    await begin(stage)
    await stage.store.hold({ target: 'trigger:t', now: t0 + 1, ...me })
    await stage.finish('w', await stage.claimOne('w', t0 + 2), { outcome: outcomes.done, at: t0 + 2 })
    const dueAt = t0 + 2 + everyMs
    expect((await stage.stored('t')).nextAt).toBe(dueAt)
    const paused = await stage.tick('t', dueAt)
    expect(paused.runs).toEqual([])
    await stage.store.release({ target: 'trigger:t', now: dueAt + 9, catchUp: false })
    expect((await stage.stored('t')).nextAt).toBe(dueAt + 9)
  })

  law('G3: a retry of the last run does not stop a released chain', async (stage) => {
    const run = await begin(stage)
    await stage.store.hold({ target: 'trigger:t', now: t0 + 1, ...me })
    await stage.finish('w', await stage.claimOne('w', t0 + 2), { outcome: outcomes.failed, at: t0 + 2 })
    const dueAt = t0 + 2 + everyMs
    await stage.tick('t', dueAt)
    await stage.store.retry({ run, now: dueAt + 1 })
    await stage.store.release({ target: 'trigger:t', now: dueAt + 9, catchUp: false })
    expect((await stage.stored('t')).nextAt).toBe(dueAt + 9)
  })

  law('a change of policy during a pause does not restore the due instant of a chain', async (stage) => {
    await begin(stage)
    await stage.finish('w', await stage.claimOne('w', t0 + 1), { outcome: outcomes.done, at: t0 + 1 })
    await stage.store.hold({ target: 'trigger:t', now: t0 + 2, ...me })
    const { trigger, cursorAt } = await stage.stored('t')
    await stage.trigger({ ...trigger, priority: 5 }, { now: t0 + 3, cursorAt, nextAt: undefined })
    await stage.store.release({ target: 'trigger:t', now: t0 + 4, catchUp: false })
    expect((await stage.stored('t')).nextAt).toBe(t0 + 1 + everyMs)
  })
}

/** A chain whose first run is pending; returns its id. */
async function begin(stage: Stage): Promise<string> {
  await stage.ready()
  await stage.trigger(aTrigger('t', { schedule: { kind: 'after-finish', everyMs }, overlap: 'skip' }), {
    nextAt: t0,
  })
  const tick = await stage.tick('t', t0)
  return tick.chainRun ?? ''
}
