import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../time/clock.js'
import { conformance } from '../conformance/conformance.js'
import { lawEffects } from '../conformance/effects.js'
import { openSqliteStore } from './sqlite-store.js'

conformance('SQLite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  const open = () =>
    openSqliteStore({ path: join(directory, 'rota.db'), clock: systemClock, endEffects: lawEffects })
  let store = await open()
  return {
    store,
    async reopen() {
      await store.close()
      store = await open()
      return store
    },
    async dispose() {
      await store.close()
      rmSync(directory, { recursive: true })
    },
  }
})
