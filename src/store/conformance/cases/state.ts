import { expect } from 'vitest'
import type { StateChange, StateKey } from '../../../kernel/state/state-entry.js'
import { planTick, type Tick } from '../../../kernel/tick/tick.js'
import type { Store } from '../../port.js'
import { aJob, aRun, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

const everyPoll = {
  kind: 'sensor',
  type: 'test',
  everyMs: minute,
  timeoutMs: minute,
  timezone: 'UTC',
} as const

/** State entries, seen keys, sensors, and what the end of a run changes besides the run. */
export function stateLaws(law: Law): void {
  law('state entries are changed together, or not at all if one has another revision', async ({ store }) => {
    const [a, b] = [timing('a', 1), timing('b', 2)]
    expect(await store.changeState({ changes: [{ ...a, revision: 0 }, b], now: t0 })).toBe('changed')
    expect(await store.changeState({ changes: [timing('b', 3), { ...a, revision: 0 }], now: t0 })).toBe(
      'stale',
    )
    expect(await values(store)).toEqual([
      ['a', 1, 1],
      ['b', 2, 1],
    ])
    const changes = [
      { ...timing('a', 4), revision: 1 },
      { ...b, revision: 1, value: undefined },
    ]
    expect(await store.changeState({ changes, now: t0 + 1 })).toBe('changed')
    expect(await values(store)).toEqual([['a', 4, 2]])
    expect(await store.stateEntries({ kind: 'service', limit: 9 })).toEqual([
      { kind: 'service', name: 'a', item: '', value: 4, revision: 2, at: t0 + 1 },
    ])
  })

  law(
    'a removed state entry starts again at revision 1, and removing a missing one is not a conflict',
    async (stage) => {
      const { store } = stage
      await store.changeState({ changes: [timing('a', 1), timing('a', 2)], now: t0 })
      const gone = { ...timing('a', 0), value: undefined }
      expect(await store.changeState({ changes: [gone, gone], now: t0 })).toBe('changed')
      await store.changeState({ changes: [{ ...timing('a', 3), revision: 0 }], now: t0 })
      await stage.reopen()
      expect(await values(stage.store)).toEqual([['a', 3, 1]])
    },
  )

  law(
    'state entries are returned by name and item, in pages, for given names and items',
    async ({ store }) => {
      const keys = ['b', 'a', 'c'].flatMap((name) => ['2', '10', '1'].map((item) => ({ name, item })))
      const changes = keys.map((key): StateChange => ({ kind: 'partition', ...key, value: key }))
      await store.changeState({ changes: [...changes, timing('a', 1)], now: t0 })
      const list = async (filter: Partial<Parameters<Store['stateEntries']>[0]>): Promise<string[]> => {
        const found = await store.stateEntries({ kind: 'partition', limit: 100, ...filter })
        return found.map(({ name, item }) => name + item)
      }
      const all = ['a1', 'a10', 'a2', 'b1', 'b10', 'b2', 'c1', 'c10', 'c2']
      expect(await list({})).toEqual(all)
      expect(await list({ limit: 2 })).toEqual(['a1', 'a10'])
      expect(await list({ limit: 3, after: { name: 'a', item: '2' } })).toEqual(['b1', 'b10', 'b2'])
      expect(await list({ names: ['c', 'a', 'c'] })).toEqual(['a1', 'a10', 'a2', 'c1', 'c10', 'c2'])
      expect(await list({ names: ['c', 'x'], items: ['2', '1', '3'] })).toEqual(['c1', 'c2'])
      expect(await list({ items: ['10'] })).toEqual(['a10', 'b10', 'c10'])
      expect(await list({ names: ['b'], after: { name: 'b', item: '1' }, limit: 1 })).toEqual(['b10'])
      expect(await list({ names: [] })).toEqual([])
    },
  )

  law('G8: a tick writes state entries and seen keys with its runs, or nothing', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const planned = planTick(await stage.seen('t', t0 + minute), t0 + minute)
    const state: StateChange = { kind: 'sensor', name: 't', item: '', value: { page: 1 } }
    const tick: Tick = { ...planned, stateChanges: [{ ...state, revision: 3 }], seen: [{ digest: 'x' }] }
    expect(await stage.store.tick([tick])).toEqual(['stale'])
    expect(await stage.store.runs({ limit: 9 })).toEqual([])
    expect(await known(stage, ['x'])).toEqual([])
    expect(await stage.store.tick([{ ...tick, stateChanges: [{ ...state, revision: 0 }] }])).toEqual([
      'ticked',
    ])
    expect(await stage.store.runs({ limit: 9 })).toHaveLength(1)
    expect(await known(stage, ['x', 'y'])).toEqual(['x'])
    await stage.reopen()
    expect(await known(stage, ['x', 'y'])).toEqual(['x'])
    expect(await stage.store.stateEntries({ kind: 'sensor', limit: 9 })).toMatchObject([
      { value: { page: 1 } },
    ])
  })

  law('a seen key is forgotten when it expires, or on request', async (stage) => {
    await stage.trigger(aTrigger('t'))
    const digests = ['a', 'b', 'c', 'd']
    await stage.tick('t', t0 + 1, {
      seen: [
        { digest: 'a' },
        { digest: 'b', untilAt: t0 + 10 },
        { digest: 'c' },
        { digest: 'd', untilAt: t0 + 20 },
      ],
    })
    expect(await known(stage, digests, t0 + 9)).toEqual(digests)
    expect(await known(stage, digests, t0 + 10)).toEqual(['a', 'c', 'd'])
    expect(await stage.store.prune({ before: t0, limit: 10, now: t0 + 10 })).toBe(0)
    expect(await known(stage, digests, t0)).toEqual(['a', 'c', 'd'])
    expect(await stage.store.forgetSeen({ trigger: 't', limit: 2 })).toBe(2)
    expect(await known(stage, digests, t0)).toEqual(['d'])
    expect(await stage.store.forgetSeen({ trigger: 't', limit: 2 })).toBe(1)
    await stage.reopen()
    expect(await known(stage, digests, t0)).toEqual([])
  })

  law('a trigger with a sensor is due only for a process that names it', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('timed'), { nextAt: t0 + 1 })
    await stage.trigger(aTrigger('s1', { schedule: everyPoll }), { nextAt: t0 + 3 })
    await stage.trigger(aTrigger('s2', { schedule: everyPoll }), { nextAt: t0 + 2 })
    const names = async (sensors?: string[]): Promise<string[]> =>
      (await stage.store.due({ now: t0 + 5, limit: 9, sensors })).map(({ trigger }) => trigger.name)
    expect(await names()).toEqual(['timed'])
    expect(await names(['s1', 's2', 'timed'])).toEqual(['s2', 's1'])
    expect(await names(['s1'])).toEqual(['s1'])
    expect(await stage.store.nextTickAt({ now: t0 })).toBe(t0 + 1)
    expect(await stage.store.nextTickAt({ now: t0, sensors: ['s1'] })).toBe(t0 + 3)
    expect(await stage.store.nextTickAt({ now: t0, sensors: [] })).toBeUndefined()
    await stage.store.hold({ target: 'all', now: t0, actor: 'me', note: '' })
    expect(await names(['s1', 's2'])).toEqual([])
  })

  law('the end of a run applies its end effect, and wakes its trigger', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('round'), { nextAt: t0 + minute })
    const run = aRun('s', { origin: 'round', trigger: 'round', endEffect: 'waking' })
    const [timed, open] = [timing('work', 5), { kind: 'cycle', name: 'round', item: '' } as const]
    await stage.store.changeState({ changes: [timed, { ...open, value: 'open' }], now: t0 })
    await stage.enqueue([run])
    const { revision } = await stage.stored('round')
    const end = { outcome: outcomes.failed, at: t0 + 7, startedAt: t0 + 2 }
    await stage.finish('w', await stage.claimOne('w', t0), end)
    const facts = { run: run.id, dueAt: t0, state: 'failed', startedAt: t0 + 2, at: t0 + 7 }
    const error = { code: 'HANDLER_FAILED', message: 'no', reason: null }
    expect(await valueOf(stage, timed)).toEqual({ ...facts, ...error, before: 6 })
    expect(await stage.stored('round')).toMatchObject({ nextAt: t0 + 7, revision: revision + 1 })
    await stage.reopen()
    expect(await valueOf(stage, open)).toBeUndefined()
    expect(await valueOf(stage, { ...open, kind: 'check' })).toBe('open')
  })

  law('a run that will be retried has not ended, and changes nothing', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('s', { trigger: 'round', endEffect: 'waking' })])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.again(t0 + 1), at: t0 + 1 })
    expect(await valueOf(stage, timing('work', 0))).toBeUndefined()
    await stage.finish('w', await stage.claimOne('w', t0 + 1), { outcome: outcomes.failed, at: t0 + 2 })
    expect(await valueOf(stage, timing('work', 0))).toMatchObject({ state: 'failed', at: t0 + 2 })
  })

  law('a run whose effect the store does not know is refused', async ({ store }) => {
    const runs = [aRun('s', { endEffect: 'unheard-of' })]
    await expect(store.enqueue({ runs, now: t0 })).rejects.toThrow('unheard-of')
    expect(await store.runs({ limit: 9 })).toEqual([])
  })

  law('an arrival is written for the triggers that follow the job, and wakes them', async (stage) => {
    await stage.ready()
    const schedule = { kind: 'upstream', assets: ['work', 'other'] } as const
    await stage.trigger(aTrigger('down', { schedule }), { nextAt: undefined })
    await stage.trigger(aTrigger('elsewhere', { schedule: { kind: 'upstream', assets: ['other'] } }), {
      nextAt: undefined,
    })
    const [first, second] = ['one', 'two'].map((label) => aRun(label, { partition: 'p', endEffect: 'asset' }))
    await stage.enqueue([first!])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.failed, at: t0 + 1 })
    const key = { kind: 'partition', name: 'work', item: 'p' } as const
    expect(await valueOf(stage, key)).toMatchObject({ state: 'failed', run: first!.id, at: t0 + 1 })
    expect(await stage.store.stateEntries({ kind: 'arrival', limit: 9 })).toEqual([])
    await stage.enqueue([second!])
    const last = await stage.claimOne('w', t0 + 2)
    await stage.finish('w', last, { outcome: outcomes.done, at: t0 + 3, startedAt: t0 + 2 })
    const done = { state: 'done', run: second!.id, at: t0 + 3, startedAt: t0 + 2 }
    expect(await valueOf(stage, key)).toMatchObject(done)
    const arrivals = await stage.store.stateEntries({ kind: 'arrival', limit: 9 })
    expect(arrivals.map(({ name, item, value }) => [name, item, value])).toEqual([
      ['down', '["work","p"]', { run: second!.id, at: t0 + 3 }],
    ])
    expect(await stage.stored('down')).toMatchObject({ nextAt: t0 + 3 })
    expect(await stage.stored('elsewhere')).toMatchObject({ nextAt: undefined })
  })

  law(
    'an arrival makes no tick stale, and one that a tick does not remove causes another tick',
    async (stage) => {
      await stage.ready()
      const schedule = { kind: 'upstream', assets: ['work'] } as const
      await stage.trigger(aTrigger('down', { schedule }), { nextAt: undefined })
      const seen = await stage.seen('down', t0)
      await stage.enqueue([aRun('one', { partition: 'p', endEffect: 'asset' })])
      await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 + 1 })
      expect(await stage.stored('down')).toMatchObject({ nextAt: t0 + 1, revision: seen.revision })
      const planned = { ...planTick(seen, t0 + 2), takesArrivals: true }
      expect(planned.nextAt).toBeUndefined()
      expect(await stage.store.tick([planned])).toEqual(['ticked'])
      expect(await stage.stored('down')).toMatchObject({ nextAt: t0 + 2 })
      const [arrival] = await stage.store.stateEntries({ kind: 'arrival', limit: 9 })
      const again = planTick(await stage.seen('down', t0 + 3), t0 + 3)
      const stateChanges = [
        { kind: 'arrival', name: 'down', item: arrival!.item, revision: 1, value: undefined } as const,
      ]
      expect(await stage.store.tick([{ ...again, stateChanges, takesArrivals: true }])).toEqual(['ticked'])
      expect(await stage.stored('down')).toMatchObject({ nextAt: undefined })
    },
  )

  law('a trigger that now follows other assets, or has ended, gets no arrival', async (stage) => {
    await stage.ready()
    const following = (assets: string[]) => ({ schedule: { kind: 'upstream', assets } }) as const
    await stage.trigger(aTrigger('a', following(['work'])), { nextAt: undefined })
    await stage.trigger(aTrigger('b', following(['work'])), { nextAt: undefined })
    await stage.trigger(aTrigger('a', following(['other'])), { nextAt: undefined })
    await stage.trigger(aTrigger('b', following(['work'])), { trigger: undefined, nextAt: undefined })
    await stage.reopen()
    await stage.enqueue([aRun('one', { endEffect: 'asset' })])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 + 1 })
    expect(await stage.store.stateEntries({ kind: 'arrival', limit: 9 })).toEqual([])
  })

  law('an effect without reads replaces the existing entry', async (stage) => {
    await stage.ready()
    const runs = ['one', 'two'].map((label) => aRun(label, { trigger: 'o', endEffect: 'once' }))
    await stage.enqueue(runs)
    const [first, second] = await stage.claim('w', t0)
    await stage.finish('w', first!, { outcome: outcomes.done, at: t0 + 1 })
    await stage.finish('w', second!, { outcome: outcomes.cancelled, at: t0 + 2 })
    const facts = { run: second!.run, state: 'cancelled', at: t0 + 2, startedAt: null }
    expect(await valueOf(stage, { kind: 'executed', name: 'o', item: '' })).toMatchObject(facts)
  })
}

function timing(name: string, value: number): StateChange {
  return { kind: 'service', name, item: '', value }
}

async function values(store: Store): Promise<unknown[]> {
  const found = await store.stateEntries({ kind: 'service', limit: 9 })
  return found.map(({ name, value, revision }) => [name, value, revision])
}

async function valueOf({ store }: Stage, { kind, name, item }: StateKey): Promise<unknown> {
  const [note] = await store.stateEntries({ kind, names: [name], items: [item], limit: 1 })
  return note?.value
}

async function known({ store }: Stage, digests: readonly string[], now = t0): Promise<string[]> {
  return [...(await store.seen({ trigger: 't', digests, now }))].toSorted()
}
