import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { openMemoryStore } from '../memory/memory-store.js'
import { checkLaws, compareFacts } from '../conformance/facts.js'
import { operations } from '../conformance/operation.js'
import { Player } from '../conformance/player.js'
import { openSqliteStore } from './sqlite-store.js'
it('campaign', { timeout: 600_000 }, async () => {
  await fc.assert(fc.asyncProperty(operations, async (story) => {
    const directory = mkdtempSync(join('/dev/shm', 'rota-sqlite-'))
    const open = () => openSqliteStore({ path: join(directory, 'rota.db'), clock: systemClock, durability: 'normal' })
    let store = await open()
    const opened = { store, async reopen() { await store.close(); store = await open(); return store }, async dispose() { await store.close(); rmSync(directory, { recursive: true }) } }
    try {
      const player = new Player(openMemoryStore(), opened)
      await player.begin()
      for (const [i, operation] of story.entries()) { await player.play(operation); if ((i + 1) % 20 === 0) await compareFacts(player) }
      await compareFacts(player); await checkLaws(player)
    } finally { await opened.dispose() }
  }), { numRuns: 3000, interruptAfterTimeLimit: 100_000, markInterruptAsFailure: false })
})
