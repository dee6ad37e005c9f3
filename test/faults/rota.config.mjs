// The app of the fault tests: every attempt writes a line to disk when it begins and one when it ends, so that the tests
// can compare what really happened with the store.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const { FAULTS_STORE: store, FAULTS_DIARY: diary, FAULTS_FROM: from } = process.env

function say(...words) {
  const file = openSync(diary, 'a')
  writeSync(file, `${words.join(' ')}\n`)
  fsyncSync(file)
  closeSync(file)
}

async function work(run) {
  const { id, attempt, trigger = '-', payload } = run
  say('begin', id, attempt, Date.now(), process.pid, trigger, payload?.number ?? '-')
  try {
    await wait(Math.random() * 80, undefined, { signal: run.signal })
    if (payload?.fails === true && attempt === 1) throw new Error('fails once')
  } finally {
    say('end', id, attempt, Date.now(), process.pid)
  }
}

const everyOne = { job: 'work', catchUp: { mode: 'all', maxRuns: 10_000 }, overlap: 'queue-all' }
const job = { handler: work, maxCrashes: 100, retry: { attempts: 100, delay: '50ms' } }

/** One-shots, spread over the time in which the faults happen. */
const shots = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => {
    const at = new Date(Number(from) + 2000 + i * 1500).toISOString()
    return [`shot${i}`, { job: 'work', at }]
  }),
)

export default {
  app: 'faults',
  store,
  lease: '2s',
  concurrency: 20,
  jobs: { work: job, loose: job, narrow: { ...job, concurrency: 1 } },
  triggers: {
    grid: { ...everyOne, every: '500ms' },
    second: { ...everyOne, cron: '* * * * * *' },
    overlapping: { ...everyOne, job: 'loose', cron: '*/2 * * * * *', overlap: 'allow' },
    skipping: { job: 'work', every: '250ms', overlap: 'skip', catchUp: 'latest' },
    chain: { job: 'work', every: '300ms', after: 'finish' },
    ...shots,
  },
}
