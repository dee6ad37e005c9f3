import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'

const files = createRequire(import.meta.url)
const gate = JSON.stringify(new URL('../../../dist/app/store/exit-gate.js', import.meta.url).href)
const sqlite = JSON.stringify(files.resolve('@photostructure/sqlite'))

/** Exits with 7 while its thread calls SQLite repeatedly. A call is far shorter than the time limit of the gate. */
const program = `
  const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
  const count = 'with recursive n(i) as (select begun() union all select i + 1 from n where i < 100000) select count(*) from n'
  import(${gate}).then(async ({ ExitGate }) => {
    const gate = new ExitGate(workerData ?? undefined)
    if (isMainThread) {
      const thread = new Worker(process.env.PROGRAM, { eval: true, workerData: gate.shared })
      process.on('exit', () => gate.close())
      thread.on('message', () => process.exit(7))
    } else {
      const { DatabaseSync } = require(${sqlite})
      const database = new DatabaseSync(':memory:')
      database.function('begun', () => (parentPort.postMessage('begun'), 1))
      const statement = database.prepare(count)
      for (;;) await gate.during(async () => statement.get())
    }
  })`

it('a process that exits while its lease thread is inside SQLite ends with its own exit code', () => {
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', program], {
    env: { ...process.env, PROGRAM: program },
    encoding: 'utf8',
  })
  expect({ status, signal, stderr }).toEqual({ status: 7, signal: null, stderr: '' })
})
