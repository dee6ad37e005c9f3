// The cost of tracing errors to their runs: CPU time of a run whose handler awaits a number of promises, without and
// with tracing, in alternating processes. The best of several counts, since other work on the machine only adds to it.
//
//   node bench/error-tracing.mjs [--times=5]
import { parseArgs } from 'node:util'
import { fromDist, inChild, report } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    awaits: { type: 'string' },
    traced: { type: 'string' },
  },
})

if (flags.awaits === undefined) await compare()
else report({ cpuUs: await measure(Number(flags.awaits), flags.traced === 'yes') })

async function compare() {
  console.log(`Node ${process.version}: µs of CPU time for a run`)
  for (const awaits of [0, 1, 100, 1000]) {
    const best = { no: Infinity, yes: Infinity }
    for (let i = 0; i < Number(flags.times); i++) {
      for (const traced of ['no', 'yes']) {
        const { cpuUs, error } = await inChild('error-tracing.mjs', { awaits, traced })
        if (error !== undefined) throw new Error(error)
        best[traced] = Math.min(best[traced], cpuUs)
      }
    }
    console.log(
      `${String(awaits).padStart(4)} awaits: ${best.no.toFixed(1)} without, ${best.yes.toFixed(1)} with`,
    )
  }
}

async function measure(awaits, isTraced) {
  const { rota } = await fromDist('index.js')
  const count = awaits > 100 ? 4000 : 20_000
  const app = rota({ store: 'memory:', concurrency: 50 })
  if (isTraced) app.traceErrors()
  const settled = Promise.resolve()
  let left = count
  let end = () => undefined
  const ended = new Promise((resolve) => (end = resolve))
  const job = app.job('work', async () => {
    for (let i = 0; i < awaits; i++) await settled
    left -= 1
    if (left === 0) end()
  })
  await app.start({ roles: { scheduler: false } })
  const before = process.cpuUsage()
  for (let i = 0; i < count; i += 1000) await app.enqueueMany(job, Array.from({ length: 1000 }))
  await ended
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
