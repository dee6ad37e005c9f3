// A custom sensor that finds the lines that were added to a file; see docs/guides/sensors.md.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rota } from 'rota'

const directory = mkdtempSync(join(tmpdir(), 'rota-orders-'))
const path = join(directory, 'orders.log')

/** @type {import('rota').Sensor<{ path: string }, { line: number }>} */
const newLines = {
  // Called once, before the first poll: returns the first state, or the reason why it cannot begin.
  init: ({ path }) =>
    existsSync(path) ? { kind: 'ok', state: { line: 0 } } : { kind: 'error', reason: `there is no ${path}` },

  // Called at every interval with the state that the last poll returned.
  poll: (state, { config }) => {
    const lines = readFileSync(config.path, 'utf8').split('\n').slice(0, -1)
    const observations = lines.slice(state.line).map((line) => {
      const [order, day] = line.split(' ')
      return { key: order, partition: day, payload: { order } }
    })
    if (observations.length === 0) return { kind: 'no-trigger', reason: 'no new line', state }
    return { kind: 'trigger', observations, state: { line: lines.length } }
  },
}

appendFileSync(path, 'order-1 2026-01-05\n')

const app = rota({ store: 'memory:' })
app.sensors.define('new_orders', {
  sensor: newLines,
  config: { path },
  every: '20ms',
  onTrigger: (partition, run) => console.log(`${run.payload.order} is about ${partition}`),
  runs: { retry: 5 },
})
let ended = nextEnd()
await app.start()
await ended

// The next poll finds new lines; an order that comes a second time triggers nothing.
ended = nextEnd()
appendFileSync(path, 'order-2 2026-01-06\norder-1 2026-01-05\n')
await ended

// Observations can also be delivered; they are deduplicated together with those of polls.
console.log(await app.sensors.deliver('new_orders', { key: 'order-2', partition: '2026-01-06' }))
ended = nextEnd()
const pushed = { key: 'order-3', partition: '2026-01-07', payload: { order: 'order-3' } }
const answer = await app.sensors.deliver('new_orders', pushed)
await ended
console.log(answer)

// A preview polls from a given state and changes nothing; a reset changes the state.
const preview = await app.sensors.preview('new_orders', { state: { line: 1 } })
for (const { key, isNew } of preview.observations) console.log(`preview: ${key}, new: ${isNew}`)
await app.sensors.reset('new_orders', { keys: false, state: { line: 0 } })

const [sensor] = await app.sensors.list()
console.log(`${sensor.name} is ${sensor.condition} and has found ${sensor.record.found}`)
await app.stop()
rmSync(directory, { recursive: true })

function nextEnd() {
  return new Promise((resolve) => {
    const end = app.on('run:ended', () => {
      end()
      resolve()
    })
  })
}
