// Creates a store with a history, starts on it, or performs runs on it.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fromDist, report, sleep } from './measure.mjs'
import { defineTriggers } from './triggers.mjs'

const { values: flags } = parseArgs({
  options: {
    task: { type: 'string' },
    directory: { type: 'string' },
    history: { type: 'string', default: '0' },
    triggers: { type: 'string', default: '0' },
    count: { type: 'string', default: '0' },
  },
})
process.env.XDG_STATE_HOME = flags.directory
const { rota } = await fromDist('index.js')
const path = join(flags.directory, 'rota.db')
const seen = { performed: 0 }

/** Triggers with one name cannot belong to two apps, so processes that only perform runs are another app. */
function appNamed(name, options = {}) {
  const app = rota({ app: name, store: `sqlite:${path}`, concurrency: 100, ...options })
  const job = app.job(`noop-${name}`, () => {
    seen.performed += 1
  })
  return { app, job }
}

const tasks = {
  async build() {
    const { app, job } = appNamed('owner', { durability: 'normal' })
    defineTriggers(app, job, Number(flags.triggers))
    await app.start()
    const history = Number(flags.history)
    for (let done = 0; done < history; done += 20_000)
      await performMany(app, job, Math.min(20_000, history - done))
    await app.stop()
    return { fileMiB: statSync(path).size / 2 ** 20 }
  },

  async start() {
    const startMs = performance.now()
    const triggers = Number(flags.triggers)
    const { app, job } = appNamed(triggers > 0 ? 'owner' : 'other')
    defineTriggers(app, job, triggers)
    await app.start()
    const startedMs = performance.now() - startMs
    await app.stop()
    return { startedMs }
  },

  async perform() {
    const count = Number(flags.count)
    const { app, job } = appNamed('other')
    await enqueue(app, job, count)
    const startMs = performance.now()
    await app.start()
    await untilPerformed(count)
    const perSecond = (count * 1000) / (performance.now() - startMs)
    await app.stop()
    return { perSecond }
  },
}
report(await tasks[flags.task]())

async function performMany(app, job, count) {
  seen.performed = 0
  await enqueue(app, job, count)
  await untilPerformed(count)
}

async function enqueue(app, job, count) {
  for (let first = 0; first < count; first += 1000) {
    const payloads = Array.from({ length: Math.min(1000, count - first) }, (_, i) => ({
      i: first + i,
      t: 'noop',
    }))
    await app.enqueueMany(job, payloads)
  }
}

async function untilPerformed(count) {
  while (seen.performed < count) await sleep(1)
}
