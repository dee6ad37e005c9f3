import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota } from '../rota.js'
import { openReader } from './store-reader.js'

it('a reader sees the runs of an existing store, and refuses writes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-reader-'))
  await expect(openReader('sqlite:rota.db', directory)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  const app = rota({ store: `sqlite:${join(directory, 'rota.db')}` })
  onTestFinished(() => app.close())
  const { id } = await app.enqueue(app.job('report', () => undefined))
  const reader = await openReader('sqlite:rota.db', directory)
  onTestFinished(() => reader.close())
  const store = await reader.store()
  expect((await store.runs({ limit: 2 })).map((run) => run.id)).toEqual([id])
  await expect(store.cancel({ run: id, now: reader.now(), reason: '' })).rejects.toMatchObject({
    code: 'STORE_URL',
  })
  expect((await store.run(id))?.state).toBe('pending')
})
