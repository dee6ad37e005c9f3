import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../time/clock.js'
import { conformance } from '../conformance/conformance.js'
import { lawEffects } from '../conformance/effects.js'
import type { OpenedStore } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

const told = process.env['STORIES']

conformance('SQLite', open, told === undefined ? {} : { stories: Number(told) })

async function open(): Promise<OpenedStore> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const openOne = () =>
    openSqliteStore({ path: join(directory, 'rota.db'), clock: systemClock, endEffects: lawEffects })
  let store = await openOne()
  return {
    store,
    async reopen() {
      await store.close()
      store = await openOne()
      return store
    },
    async dispose() {
      await store.close()
      rmSync(directory, { recursive: true })
    },
  }
}
