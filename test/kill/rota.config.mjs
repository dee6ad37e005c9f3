// The app that is killed: every attempt writes one line to a file, so that the test can read what really happened.
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const performed = process.env.KILL_TEST_PERFORMED

async function work(run) {
  appendFileSync(performed, `${run.id} ${run.attempt} ${run.dueAt.getTime()} ${process.pid}\n`)
  await wait(Math.random() * 40)
}

const everyOne = { job: 'work', catchUp: { mode: 'all', maxRuns: 10_000 }, overlap: 'queue-all' }

export default {
  app: 'kill-test',
  store: process.env.KILL_TEST_STORE,
  lease: '1s',
  concurrency: 20,
  jobs: { work: { handler: work, maxCrashes: 100 }, loose: { handler: work, maxCrashes: 100 } },
  triggers: {
    second: { ...everyOne, cron: '* * * * * *' },
    grid: { ...everyOne, every: '250ms' },
    overlapping: { ...everyOne, job: 'loose', cron: '* * * * * *', overlap: 'allow' },
  },
}
