// Defines triggers, waits, and then lets some of them be due in one second. A second process on the same store finds
// that nothing changed.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuWhile, fromDist, percentile, report, residentMiB, sleep } from './measure.mjs'
import { defineTriggers } from './triggers.mjs'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string' },
    due: { type: 'string' },
    directory: { type: 'string' },
    store: { type: 'string' },
    restMs: { type: 'string', default: '5000' },
    settleMs: { type: 'string', default: '0' },
  },
})
const due = Number(flags.due)
process.env.XDG_STATE_HOME = flags.directory

const { rota } = await fromDist('index.js')
const lateness = []
let onPerform = () => undefined
const store = flags.store ?? `sqlite:${join(flags.directory, 'rota.db')}`
const app = rota({ app: 'bench', store, concurrency: 100 })
const job = app.job('noop', (run) => {
  lateness.push(Date.now() - run.dueAt.getTime())
  onPerform()
})

const startMs = performance.now()
defineTriggers(app, job, Number(flags.count))
const listedMs = performance.now() - startMs
await app.start()
const definedMs = performance.now() - startMs

await sleep(1000)
const rssMiB = await residentMiB()
const heapMiB = process.memoryUsage().heapUsed / 2 ** 20
// V8 compacts its heap once or twice within twenty seconds after a start: up to 130 ms that are not idle cost.
await sleep(Number(flags.settleMs))
const cpuPercent = await cpuWhile(Number(flags.restMs))
if (due > 0) await letThemBeDue()
const result = { listedMs, definedMs, rssMiB, heapMiB, cpuPercent }
if (due > 0) Object.assign(result, { p50Ms: percentile(lateness, 0.5), p99Ms: percentile(lateness, 0.99) })
await app.stop()
report(result)

/** All at the same second, a few seconds from now; resolves when the last one has been performed. */
async function letThemBeDue() {
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 4000)
  const time = [
    at.getUTCSeconds(),
    at.getUTCMinutes(),
    at.getUTCHours(),
    at.getUTCDate(),
    at.getUTCMonth() + 1,
  ]
  const trigger = { job: 'noop', cron: `${time.join(' ')} *` }
  const triggers = Object.fromEntries(Array.from({ length: due }, (_, i) => [`due-${i}`, trigger]))
  const all = new Promise((resolve) => {
    onPerform = () => lateness.length === due && resolve(undefined)
  })
  await app.triggers.add(triggers)
  await all
}
