// Fills a file store, moves it into SQLite, and continues there.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateStore, rota } from 'rota'

const directory = mkdtempSync(join(tmpdir(), 'rota-moving-'))

const before = rota({ store: 'files:data', directory, app: 'shop' })
before.job('report', () => 'made')
const { id } = await before.enqueue('report')
await before.start()
await before.runs.wait(id)
await before.stop()

const { counts } = await migrateStore({ from: 'files:data', to: 'sqlite:rota.db', directory })
console.log(`moved ${counts.run} run with all its attempts`)

const after = rota({ store: 'sqlite:rota.db', directory, app: 'shop' })
const run = await after.runs.get(id)
console.log(`${run.job} is ${run.state} in SQLite: ${run.result}`)
await after.close()
