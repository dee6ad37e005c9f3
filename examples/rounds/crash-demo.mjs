// Kills a round in the middle and starts it again under the same name: finished services are not repeated.
// `node examples/rounds/crash-demo.mjs` takes half a minute; with `full` it also shows the saved state after the crash
// and waits for the next cycle. PACE=0.1 makes the services ten times as fast.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rota } from 'rota'

const isFull = process.argv[2] === 'full'
const pace = Number(process.env.PACE ?? 1)
const directory = await mkdtemp(join(tmpdir(), 'rota-rounds-'))

const first = start('first')
await first.says('s1 started')
await wait(8000 * pace)
first.child.kill('SIGKILL')
await first.ended
console.log('killed')

const saved = await look()
const finished = saved.results.map(({ service }) => service)
console.log(`saved: ${finished.join(', ')} finished, ${saved.currentService ?? 'nothing'} current`)
if (isFull) await showEverything()

const second = start('second')
await second.says('s5 finished')
const repeated = finished.filter((service) =>
  second.lines.some((line) => line.startsWith(`${service} started`)),
)
console.log(repeated.length === 0 ? 'nothing was repeated' : `repeated: ${repeated.join(', ')}`)
if (isFull) {
  console.log('the next cycle comes at the next check …')
  await second.says('s1 started')
}
second.child.kill('SIGINT')
await second.ended
await rm(directory, { recursive: true })
process.exitCode = repeated.length === 0 ? 0 : 1

/** Starts the round in a separate process. */
function start(title) {
  const script = fileURLToPath(new URL('scheduler.mjs', import.meta.url))
  const env = { ...process.env, SERVICE_MS: String(3000 * pace) }
  const child = spawn(process.execPath, [script], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = []
  const output = createInterface({ input: child.stdout })
  output.on('line', (line) => {
    lines.push(line)
    console.log(`${title}: ${line}`)
  })
  const says = async (words) => {
    while (!lines.some((line) => line.startsWith(words))) await once(output, 'line')
  }
  return { child, lines, says, ended: once(child, 'close') }
}

/** The saved state of the cycle. */
async function look() {
  const app = rota({ store: `sqlite:${join(directory, 'data', 'rounds.db')}` })
  const [state] = await app.rounds.state('my_scheduler')
  await app.close()
  return state
}

async function showEverything() {
  const app = rota({ store: `sqlite:${join(directory, 'data', 'rounds.db')}` })
  console.log('state:', JSON.stringify(await app.rounds.state('my_scheduler')))
  console.log('timing:', JSON.stringify(await app.rounds.services()))
  await app.close()
}
