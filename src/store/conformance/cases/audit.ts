import { expect } from 'vitest'
import type { AuditEntry, AuditSubject, ChangeRecord } from '../../../kernel/audit/audit.js'
import type { Instant } from '../../../time/instant.js'
import type { Store } from '../../port.js'
import { aJob, aRun, aTrigger, minute, moveFacts, t0, type Law, type Stage } from '../stage.js'
import { openModel } from '../effects.js'

/** A record with one entry about some subjects. */
export function recordOf(
  action: string,
  subjects: readonly AuditSubject[],
  given: Partial<AuditEntry> = {},
): ChangeRecord {
  const entry = {
    id: `${action} ${given.at ?? t0}`,
    at: t0,
    actor: 'ann',
    via: 'cli' as const,
    action,
    target: 'all',
    reason: 'because',
    before: undefined,
    after: undefined,
    ...given,
  }
  return { audits: [{ entry, subjects }] }
}

/** Who changed what. */
export function auditLaws(law: Law): void {
  law('a change is recorded with its state before and after, and survives a restart', async (stage) => {
    const hold = { kind: 'hold', target: 'queue:q' } as const
    const store = stage.store.audited(recordOf('queue.pause', [hold], { target: 'queue:q' }))
    await store.hold({ target: 'queue:q', now: t0, untilAt: t0 + minute, actor: 'ann', note: 'because' })
    await stage.reopen()
    const after = { by: 'ann', reason: 'because', since: iso(t0), until: iso(t0 + minute) }
    expect(await stage.store.auditPage({ limit: 9 })).toMatchObject([
      {
        at: t0,
        actor: 'ann',
        via: 'cli',
        action: 'queue.pause',
        target: 'queue:q',
        reason: 'because',
        after,
      },
    ])
    expect(await beforeOf(stage)).toEqual([undefined])
  })

  law('a change that changes nothing, or is refused, leaves no entry', async (stage) => {
    await stage.ready()
    await stage.enqueue([aRun('a')])
    const run = { kind: 'run', id: aRun('a').id } as const
    const store = stage.store.audited(recordOf('run.retry', [run]))
    expect(await store.retry({ run: run.id, now: t0 })).toBe('not-final')
    expect(await store.enqueue({ runs: [aRun('a')], now: t0 })).toEqual([{ id: run.id, created: false }])
    expect(await store.release({ target: 'all', now: t0, catchUp: false })).toBe('absent')
    expect(await actions(stage.store)).toEqual([])
  })

  law('every kind of change can be recorded', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.enqueue([aRun('late', { runAt: t0 + minute, dueAt: t0 })])
    await play(stage)
    const entries = await stage.store.auditPage({ limit: 99 })
    expect(entries.map(({ action }) => action).toReversed()).toEqual([...playedActions])
    for (const { before, after } of entries) expect(after).not.toEqual(before)
  })

  law('the transactions of one change are one entry, from the first state to the last', async (stage) => {
    const key = { kind: 'service', name: 'a', item: '' } as const
    const store = stage.store.audited(recordOf('service.set', [{ kind: 'state', key }]))
    for (const value of [1, 2, 3]) await store.changeState({ changes: [{ ...key, value }], now: t0 })
    expect(await stage.store.auditPage({ limit: 9 })).toMatchObject([{ action: 'service.set', after: 3 }])
    expect(await beforeOf(stage)).toEqual([undefined])
  })

  law('an entry about several subjects has only those that changed', async (stage) => {
    const [a, b] = ['a', 'b'].map((name) => ({ kind: 'service', name, item: '' }) as const) as [never, never]
    const both = [a, b].map((key): AuditSubject => ({ kind: 'state', key }))
    const first = stage.store.audited(recordOf('service.set', both))
    await first.changeState({ changes: [{ ...(a as object), value: 1 } as never], now: t0 })
    await first.changeState({ changes: [{ ...(b as object), value: 2 } as never], now: t0 })
    expect(await stage.store.auditPage({ limit: 9 })).toMatchObject([
      { before: { 'service:a': null, 'service:b': null }, after: { 'service:a': 1, 'service:b': 2 } },
    ])
  })

  law('an entry without subjects is written once, with its given state, without secrets', async (stage) => {
    const after = { token: 'abc', url: 'postgres://u:pw@h/d', env: { A: '1' }, deep: [{ password: 'x' }] }
    const store = stage.store.audited(recordOf('sync', [], { after }))
    await stage.ready()
    await store.enqueue({ runs: [aRun('a')], now: t0 })
    await store.enqueue({ runs: [aRun('b')], now: t0 })
    const entries = await stage.store.auditPage({ limit: 9 })
    const url = 'postgres://u:***@h/d'
    expect(entries).toMatchObject([
      { after: { token: '***', url, env: { A: '***' }, deep: [{ password: '***' }] } },
    ])
  })

  law('a large state is truncated', async (stage) => {
    const key = { kind: 'service', name: 'a', item: '' } as const
    const store = stage.store.audited(recordOf('service.set', [{ kind: 'state', key }]))
    await store.changeState({ changes: [{ ...key, value: 'x'.repeat(100_000) }], now: t0 })
    const [entry] = await stage.store.auditPage({ limit: 9 })
    expect(entry?.after).toMatchObject({ cut: true, characters: 100_002 })
    expect(JSON.stringify(entry).length).toBeLessThan(5000)
  })

  law('state of a record is written together with its entry, or not at all', async (stage) => {
    const key = { kind: 'request', name: 'k', item: '' } as const
    const hold = { kind: 'hold', target: 'all' } as const
    const record = { ...recordOf('freeze', [hold]), state: [{ ...key, value: 'done' }] }
    await stage.store.audited(record).release({ target: 'all', now: t0, catchUp: false })
    expect(await stage.store.stateEntries({ kind: 'request', limit: 9 })).toEqual([])
    await stage.store.audited(record).hold({ target: 'all', now: t0, actor: 'ann', note: '' })
    expect(await stage.store.stateEntries({ kind: 'request', limit: 9 })).toMatchObject([{ value: 'done' }])
  })

  law('a change whose state another process has changed is refused, and changes nothing', async (stage) => {
    const key = { kind: 'request', name: 'k', item: '' } as const
    await stage.store.changeState({ changes: [{ ...key, value: 'mine' }], now: t0 })
    const hold = { kind: 'hold', target: 'all' } as const
    const record = { ...recordOf('freeze', [hold]), state: [{ ...key, revision: 1, value: 'done' }] }
    await stage.store.changeState({ changes: [{ ...key, value: 'theirs' }], now: t0 })
    const frozen = stage.store.audited(record).hold({ target: 'all', now: t0, actor: 'ann', note: '' })
    await expect(frozen).rejects.toMatchObject({ code: 'REVISION_CHANGED' })
    expect(await stage.store.holds()).toEqual([])
    expect(await actions(stage.store)).toEqual([])
  })

  law('a change of a trigger that has changed since is refused, and changes nothing', async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'))
    const hold = { kind: 'hold', target: 'trigger:t' } as const
    const pauseAt = (tag: string, at: Instant) => {
      const record = { ...recordOf('trigger.pause', [hold], { at }), expected: { trigger: 't', tag } }
      return stage.store.audited(record).hold({ target: 'trigger:t', now: at, actor: 'ann', note: '' })
    }
    // A tick does not change the tag of a trigger.
    await stage.tick('t', t0 + minute)
    const others = stage.store.enqueue({ runs: [aRun('a')], now: t0 })
    await expect(pauseAt('9-0', t0 + minute)).rejects.toMatchObject({ code: 'REVISION_CHANGED' })
    expect(await others).toMatchObject([{ created: true }])
    expect(await stage.store.holds()).toEqual([])
    expect(await pauseAt('1-0', t0 + minute)).toBe('held')
    await stage.store.release({ target: 'trigger:t', now: t0 + 2 * minute, catchUp: false })
    await stage.trigger(aTrigger('t', { priority: 3 }))
    await expect(pauseAt('1-0', t0 + 3 * minute)).rejects.toMatchObject({ code: 'REVISION_CHANGED' })
    expect(await actions(stage.store)).toEqual(['trigger.pause'])
  })

  law(
    'pages neither repeat nor miss an entry, newest first, and a filter returns what matches',
    async (stage) => {
      for (let i = 0; i < 7; i++) {
        const actor = i % 2 === 0 ? 'ann' : 'bob'
        const record = recordOf(`do.${i % 3}`, [], { at: t0 + i, actor, target: `job:${i % 2}` })
        await stage.store.audited(record).changeState({ changes: [], now: t0 + i })
      }
      const times: Instant[] = []
      for (let before: number | undefined; ; ) {
        const page = await stage.store.auditPage({ limit: 2, before })
        times.push(...page.map(({ at }) => at - t0))
        before = page.at(-1)?.seq
        if (before === undefined) break
      }
      expect(times).toEqual([6, 5, 4, 3, 2, 1, 0])
      const count = async (filter: object) => (await stage.store.auditPage({ limit: 99, ...filter })).length
      expect(await count({ actor: 'bob' })).toBe(3)
      expect(await count({ action: 'do.0' })).toBe(3)
      expect(await count({ targets: ['job:0', 'job:9'] })).toBe(4)
      expect(await count({ targets: ['job:0'], sinceAt: t0 + 4 })).toBe(2)
      expect(await count({ targets: [] })).toBe(0)
    },
  )

  law('old entries and those beyond a number are removed, the oldest first', async (stage) => {
    for (let i = 0; i < 6; i++)
      await stage.store.audited(recordOf('do', [], { at: t0 + i })).changeState({ changes: [], now: t0 + i })
    expect(await stage.store.pruneAudit({ before: t0, keep: 9, limit: 9 })).toBe(0)
    expect(await stage.store.pruneAudit({ before: t0 + 2, keep: 9, limit: 1 })).toBe(1)
    expect(await stage.store.pruneAudit({ before: t0 + 2, keep: 9, limit: 9 })).toBe(1)
    expect(await stage.store.pruneAudit({ before: t0, keep: 3, limit: 9 })).toBe(1)
    await stage.reopen()
    expect((await stage.store.auditPage({ limit: 9 })).map(({ at }) => at - t0)).toEqual([5, 4, 3])
    const { audit } = await stage.store.pulse()
    await stage.store.audited(recordOf('do', [], { at: t0 + 9 })).changeState({ changes: [], now: t0 + 9 })
    expect((await stage.store.pulse()).audit).toBeGreaterThan(audit)
  })

  law('entries move with their store', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'))
    await stage.enqueue([aRun('late', { runAt: t0 + minute, dueAt: t0 })])
    await play(stage)
    const other = openModel()
    await moveFacts(stage.store, other)
    const without = async (store: Store) =>
      (await store.auditPage({ limit: 99 })).map(({ seq: _seq, ...entry }) => entry)
    expect(await without(other)).toEqual(await without(stage.store))
  })
}

const playedActions = [
  'run.enqueue',
  'run.cancel',
  'run.retry',
  'run.advance',
  'trigger.define',
  'job.define',
  'job.remove',
  'worker.drain',
  'freeze',
] as const

/** Makes one change of each kind. */
async function play(stage: Stage): Promise<void> {
  const { store } = stage
  const by = (action: (typeof playedActions)[number], ...subjects: readonly AuditSubject[]): Store =>
    store.audited(recordOf(action, subjects))
  const failed = { kind: 'run', id: aRun('failed').id } as const
  const late = { kind: 'run', id: aRun('late', { dueAt: t0 }).id } as const
  await by('run.enqueue', failed).enqueue({ runs: [aRun('failed')], now: t0 })
  await by('run.cancel', failed).cancel({ run: failed.id, now: t0, reason: 'no' })
  await by('run.retry', failed).retry({ run: failed.id, now: t0 })
  await by('run.advance', late).advance({ run: late.id, now: t0 })
  const one = { name: 't', source: 'code:test', now: t0 } as const
  const [known] = await store.triggers({ names: ['t'] })
  const definition = {
    trigger: aTrigger('t', { priority: 5 }),
    fingerprint: 'x',
    tzdata: '',
    cancelPending: false,
  }
  const place = { cursorAt: t0, nextAt: t0 + minute, closing: undefined, revision: known?.revision ?? 0 }
  await by('trigger.define', { kind: 'trigger', name: 't' }).defineTriggers([
    { ...one, ...definition, ...place },
  ])
  const job = { kind: 'job', name: 'other' } as const
  const jobs = { source: 'api', jobs: [aJob('other')], queues: [], now: t0 }
  await by('job.define', job).defineJobs(jobs)
  await by('job.remove', job).removeJobs(['other'])
  await by('worker.drain', { kind: 'worker', name: 'w' }).drain({ worker: 'w', isDraining: true })
  await by('freeze', { kind: 'hold', target: 'all' }).hold({ target: 'all', now: t0, actor: 'ann', note: '' })
}

async function actions(store: Store): Promise<string[]> {
  return (await store.auditPage({ limit: 99 })).map(({ action }) => action)
}

async function beforeOf(stage: Stage): Promise<unknown[]> {
  return (await stage.store.auditPage({ limit: 99 })).map(({ before }) => before)
}

function iso(at: Instant): string {
  return new Date(at).toISOString().replace('.000Z', 'Z')
}
