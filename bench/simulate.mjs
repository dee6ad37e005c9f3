// How long `simulate` takes for a year of many triggers, and how much memory it needs.
//
//   npm run build && node bench/simulate.mjs [--triggers=1000] [--days=365] [--every=day] [--crash=6h]
//
// `--every=hour` creates hourly triggers, `--every=midnight` daily ones that are all due together. Each trigger has its
// own job. ROTA_DIST names another build of Rota.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    triggers: { type: 'string', default: '1000' },
    days: { type: 'string', default: '365' },
    every: { type: 'string', default: 'day' },
    crash: { type: 'string' },
  },
})
const dist = process.env.ROTA_DIST ?? resolve(import.meta.dirname, '../dist')
const { rota } = await import(pathToFileURL(resolve(dist, 'index.js')).href)

const expressions = {
  day: (i) => `${i % 60} ${Math.floor(i / 60) % 24} * * *`,
  hour: (i) => `${i % 60} * * * *`,
  midnight: () => '0 0 * * *',
}
const app = rota({ store: 'memory:' })
for (let i = 0; i < Number(values.triggers); i += 1)
  app.cron(`trigger-${i}`, expressions[values.every](i), () => undefined)

const cpu = process.cpuUsage()
const startedAt = performance.now()
const { runs, late } = await app.simulate({ duration: `${values.days}d`, crashEvery: values.crash })
const tookS = (performance.now() - startedAt) / 1000
const { user, system } = process.cpuUsage(cpu)
const cpuS = (user + system) / 1e6
const peakMb = process.resourceUsage().maxRSS / 1024
console.log(
  `${values.triggers} triggers, every ${values.every}, ${values.days} days: ${runs} runs in ${tookS.toFixed(1)} s,`,
  `CPU ${cpuS.toFixed(1)} s, ${((cpuS / runs) * 1e6).toFixed(1)} µs a run, memory at most ${Math.round(peakMb)} MB,`,
  `latest ${late.maxMs} ms`,
)
await app.close()
