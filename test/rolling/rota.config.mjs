// The app of two releases at the same time: every attempt writes a line when it begins.
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const { ROLLING_STORE: store, ROLLING_DIARY: diary } = process.env

async function work(run) {
  appendFileSync(diary, `${run.id} ${run.attempt} ${process.pid}\n`)
  await wait(10)
}

async function long(run) {
  appendFileSync(diary, `${run.id} ${run.attempt} ${process.pid}\n`)
  await wait(2000)
}

const everyOne = { catchUp: { mode: 'all', maxRuns: 10_000 }, overlap: 'queue-all' }

export default {
  app: 'rolling',
  store,
  lease: '15s',
  concurrency: 4,
  queues: { narrow: { concurrency: 2 } },
  jobs: {
    work: { handler: work },
    keyed: { handler: work, concurrencyPerKey: 1 },
    narrow: { handler: work, queue: 'narrow' },
    long: { handler: long },
  },
  triggers: {
    grid: { ...everyOne, job: 'work', every: '200ms', overlap: 'allow' },
    ordered: { ...everyOne, job: 'work', every: '500ms' },
    narrow: { ...everyOne, job: 'narrow', every: '500ms', overlap: 'allow' },
    long: { ...everyOne, job: 'long', every: '1s', overlap: 'allow' },
  },
}
