import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { randomRunId, type RunId } from '../../../kernel/identity/identity.js'

/** The address of an empty store of a kind, in a directory of its own. */
export async function emptyStore(kind: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-bulk-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return kind === 'memory' ? 'memory:' : `${kind}:${join(directory, 'store')}`
}

/** An app that is not started, with the job `work`. */
export async function newApp(store: string): Promise<Rota> {
  const app = rota({ store })
  onTestFinished(() => app.close())
  app.job('work', () => 'done')
  await app.enqueue('work', 'first', { delay: '1h' })
  return app
}

/** Records runs that are due in an hour. */
export async function record(app: Rota, count: number, job = 'work'): Promise<readonly RunId[]> {
  const store = await app.store()
  const now = app.now().getTime()
  const at = now + 3_600_000
  const ids = Array.from({ length: count }, () => randomRunId(at))
  const run = { job, origin: 'enqueue', dueAt: at, runAt: at, priority: 0, slots: [], payload: 'x' } as const
  for (let i = 0; i < count; i += 1000)
    await store.enqueue({ runs: ids.slice(i, i + 1000).map((id) => ({ ...run, id })), now })
  return ids
}
