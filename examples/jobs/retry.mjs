// What a function can say about its next try: node examples/jobs/retry.mjs
import { PermanentError, RetryAfter, Snooze, rota } from 'rota'

const app = rota({ app: 'retries', store: 'sqlite:data/retries.db' })

/** Each run that failed for good comes here, once. */
const letters = app.job('letters', (run) => {
  const { job, attempts, error, payload } = run.payload
  console.log(`dead letter: ${job} for ${payload.to} failed after ${attempts} tries: ${error.message}`)
})

const answers = new Map([
  ['a@example.org', [new Snooze('1s', 'the list is not there yet'), 'sent']],
  ['b@example.org', [new RetryAfter('1s', 'busy'), 'sent']],
  ['c@example.org', [new PermanentError('no such mailbox')]],
  ['d@example.org', [new RangeError('too long')]],
])

const mail = app.job(
  'mail',
  (run) => {
    const answer = answers.get(run.payload.to).shift()
    const last = run.isLastAttempt ? ', the last try' : ''
    console.log(`${run.payload.to}, attempt ${run.attempt}${last}: ${answer.message ?? answer}`)
    if (answer instanceof Error) throw answer
    return answer
  },
  { retry: { attempts: 2, not: ['RangeError'] }, deadLetter: 'letters' },
)

await app.start()
const runs = []
for (const to of answers.keys()) runs.push(await app.enqueue(mail, { to }))
for (const run of runs) {
  const { state, reason } = await run.result().then(
    () => app.runs.get(run.id),
    () => app.runs.get(run.id),
  )
  console.log(`${state}${reason === undefined ? '' : `: ${reason}`}`)
}
while ((await app.runs.list({ job: letters.name, state: 'done' })).length < 2) await new Promise(setImmediate)
await app.stop()
