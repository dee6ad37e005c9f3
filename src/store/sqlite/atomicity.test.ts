import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { atomicityLaws, type Fault } from '../conformance/cases/atomicity.js'
import { aRun, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

atomicityLaws(withStage)

it('a stale report does not affect a run with the key of a pruned one', async () => {
  await withStage(async (stage, _fault, path) => {
    await stage.ready()
    await stage.worker('other')
    await stage.enqueue([aRun('old')])
    const old = await stage.claimOne('w', t0)
    // Decided by another process, as for a lost worker; this process still remembers its claim.
    const second = await openSqliteStore({ path, clock: systemClock })
    const lost = { run: old.run, attempt: 1, outcome: outcomes.failed, startedAt: t0, endedAt: t0 + 1 }
    await second.turn({ worker: 'other', now: t0 + 1, finished: [lost], claimRequest: undefined })
    expect(await second.prune({ before: t0 + 2, limit: 10, now: t0 + 2 })).toBe(1)
    await second.enqueue({ runs: [aRun('new')], now: t0 + 2 })
    const claimRequest = { jobs: ['work'], slots: 1, prefetch: 0 }
    const { claims } = await second.turn({ worker: 'other', now: t0 + 2, finished: [], claimRequest })
    expect(claims.map(({ run }) => run)).toEqual([aRun('new').id])
    expect(await stage.finish('w', old, { outcome: outcomes.done, at: t0 + 3 })).toBe('stale')
    expect((await stage.run(aRun('new').id)).state).toBe('running')
    await second.close()
  })
})

async function withStage(prove: (stage: Stage, fault: Fault, path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const path = join(directory, 'rota.db')
  const store = await openSqliteStore({ path, clock: systemClock })
  const db = new DatabaseSync(path)
  const fault: Fault = {
    put: async (place, when = 'true') =>
      db.exec(`create trigger fault before ${place} when ${when}
        begin select raise(abort, 'broken on purpose'); end`),
    remove: async () => db.exec('drop trigger fault'),
  }
  const opened = { store, reopen: () => Promise.resolve(store), dispose: () => store.close() }
  try {
    await prove(new Stage(opened), fault, path)
  } finally {
    db.close()
    await store.close()
    rmSync(directory, { recursive: true })
  }
}
