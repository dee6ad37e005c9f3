// The app under load: 34 triggers, about 12 runs a second. Every attempt reports when it began and when it ended.
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const performed = process.env.LOAD_TEST_PERFORMED

function handler(minMs, maxMs) {
  return async (run) => {
    const say = (what) =>
      appendFileSync(performed, `${what} ${run.job} ${run.id} ${run.attempt} ${Date.now()} ${process.pid}\n`)
    say('begin')
    await wait(minMs + Math.random() * (maxMs - minMs))
    say('end')
  }
}

const triggers = {}
const jobs = { work: { handler: handler(5, 60), maxCrashes: 100 } }
const everyOne = { catchUp: { mode: 'all', maxRuns: 10_000 }, overlap: 'queue-all' }
for (let i = 0; i < 30; i++) triggers[`t${i}`] = { ...everyOne, job: 'work', every: '3s', overlap: 'allow' }
for (let i = 0; i < 4; i++) {
  jobs[`alone${i}`] = { handler: handler(300, 600), maxCrashes: 100, concurrency: 1 }
  triggers[`alone${i}`] = { ...everyOne, job: `alone${i}`, every: '2s' }
}

export default {
  app: 'load-test',
  store: process.env.LOAD_TEST_STORE,
  lease: '3s',
  concurrency: 10,
  jobs,
  triggers,
}
