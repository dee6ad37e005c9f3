// A file sensor with its watch, polled by hand; see docs/guides/sensors/files.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesSensor } from 'rota/sensors'

const directory = mkdtempSync(join(tmpdir(), 'rota-inbox-'))
const { sensor, config, watch } = filesSensor({ directory, glob: '*.csv', settle: '200ms' })
let { state } = await sensor.init(config)

// In an app, Rota does this itself: it polls every 30 seconds, and immediately after a hint.
async function poll() {
  const signal = AbortSignal.timeout(10_000)
  const result = await sensor.poll(state, { config, now: new Date(), timezone: 'UTC', signal })
  state = result.state
  return result
}

// The watch reports that it has begun, and then every file that has settled.
let hint
const end = watch(() => hint?.(), config)
const hinted = () => new Promise((resolve) => (hint = resolve))

await hinted()
console.log((await poll()).reason)

writeFileSync(join(directory, 'notes.txt'), 'does not match')
writeFileSync(join(directory, 'orders-2025-01-15.csv'), 'id,amount\n1,20\n')
await hinted()
const { observations } = await poll()
for (const { key, partition } of observations) console.log(`${key} is about ${partition}`)

end()
rmSync(directory, { recursive: true })
