// The cost of one attempt in this thread, in its own thread and in its own process: the median of many.
//
//   node bench/isolation.mjs [--runs=30]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rota } from '../dist/index.js'

const { values: flags } = parseArgs({ options: { runs: { type: 'string', default: '30' } } })
const directory = mkdtempSync(join(tmpdir(), 'rota-isolation-'))
writeFileSync(join(directory, 'nothing.mjs'), 'export default () => undefined\n')

const app = rota({ store: 'memory:', directory })
const handler = { module: './nothing.mjs' }
app.job('here', { handler })
app.job('thread', { handler, isolate: 'thread' })
app.job('process', { handler, isolate: 'process' })
await app.start()
for (const job of ['here', 'thread', 'process']) {
  const took = []
  for (let i = 0; i < Number(flags.runs); i++) {
    const { id } = await app.enqueue(job)
    const { startedAt, finishedAt, state } = await app.runs.wait(id)
    if (state !== 'done') throw new Error(`${job} ended ${state}`)
    took.push(finishedAt - startedAt)
  }
  took.sort((a, b) => a - b)
  console.log(`${job.padEnd(8)} ${took[Math.floor(took.length / 2)]} ms`)
}
await app.stop()
rmSync(directory, { recursive: true })
