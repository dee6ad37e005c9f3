import { describe, expect, it } from 'vitest'
import { aJob, aRun, outcomes, Stage, t0 } from '../store/conformance/stage.js'
import { openMemoryStore } from '../store/memory/memory-store.js'
import { FakeClock } from '../testing/fake-clock.js'
import { workOne } from './work-one.js'

describe('one run for a process that comes and goes', () => {
  it.each(['done', 'failed'] as const)(
    'Q7: is told as lost where another worker has ended it, although its handler %s',
    async (end) => {
      const store = openMemoryStore()
      const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
      const job = aJob('work')
      await stage.jobs([job])
      await stage.enqueue([aRun('a', { job: 'work' })])
      const handler = async (): Promise<void> => {
        const [lost] = await store.expire({ now: t0, deadline: t0 + 3_600_000, limit: 1 })
        const outcome = { end: 'lost', state: 'pending', runAt: t0 } as const
        const finished = { run: lost?.run ?? '', attempt: 1, outcome, startedAt: t0, endedAt: t0 }
        await store.turn({ worker: '', now: t0, finished: [finished], want: undefined })
        await stage.worker('other')
        const claim = await stage.claimOne('other', t0)
        await stage.finish('other', claim, { outcome: outcomes.done, at: t0 })
        if (end === 'failed') throw new Error('too late')
      }
      const worked = await workOne({
        store,
        clock: new FakeClock(t0),
        worker: { id: 'one', host: 'h', pid: 1, version: '0' },
        performables: new Map([['work', { job, handler }]]),
        leaseMs: 30_000,
        aheadMs: 0,
        signal: new AbortController().signal,
        onLine: () => undefined,
      })
      expect(worked).toMatchObject({ result: 'lost', run: { state: 'done', attempt: 2 } })
      await store.close()
    },
  )
})
