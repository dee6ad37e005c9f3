// One process with many sensors that find nothing: their idle cost, or how often they can be polled.
import { parseArgs } from 'node:util'
import { cpuWhile, fromDist, report, residentMiB, sleep } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    directory: { type: 'string' },
    count: { type: 'string' },
    every: { type: 'string' },
    ms: { type: 'string' },
  },
})
const [count, ms] = [Number(flags.count), Number(flags.ms)]
process.env.XDG_STATE_HOME = flags.directory

const { rota } = await fromDist('index.js')

const app = rota({ store: `sqlite:${flags.directory}/rota.db` })
app.job('work', () => undefined)
let polls = 0
let onPolled = () => undefined
const sensor = {
  init: () => ({ kind: 'ok', state: { n: 0 } }),
  poll: (state) => {
    polls += 1
    onPolled()
    return { kind: 'no-trigger', state }
  },
}
for (let i = 0; i < count; i += 1)
  app.sensors.define(`sensor-${i}`, { sensor, every: flags.every, job: 'work' })

const startedMs = performance.now()
await app.start()
await new Promise((resolve) => {
  onPolled = () => (polls >= count ? resolve() : undefined)
  onPolled()
})
const firstMs = performance.now() - startedMs
// The first polls happen together; from then on each sensor has its own time.
await sleep(1000)
const before = polls
const beganMs = performance.now()
const cpu = await cpuWhile(ms)
const perSecond = ((polls - before) * 1000) / (performance.now() - beganMs)
report({ firstMs, cpu, perSecond, rssMiB: await residentMiB() })
