// Rota as a library: jobs are functions with a typed payload. Run it with `node examples/library/app.mjs`.
import { PermanentError, rota } from 'rota'

const app = rota({ app: 'library-example', store: 'sqlite:data/library.db' })

/** @type {import('rota').JobRef<{ to: string }>} */
const mail = app.job(
  'mail',
  async (run) => {
    if (!run.payload.to.includes('@')) throw new PermanentError(`${run.payload.to} is not an address`)
    // The id is the same for every attempt, so the receiver recognises a repeated mail.
    run.log(`mail ${run.id} to ${run.payload.to}`)
    return { sentTo: run.payload.to }
  },
  { retry: { attempts: 5, delay: '1s' }, timeout: '30s' },
)

const digest = app.job('digest', async (run) => {
  run.log(`the digest of ${run.partition}`)
  await app.enqueue(mail, { to: 'team@example.org' }, { uniqueKey: `digest-${run.partition}` })
})

app.schedule('digest', { job: digest, cron: '*/10 * * * * *', partition: 'hour' })

app.on('run:ended', ({ job, state, durationMs }) => console.log(`${job}: ${state} in ${durationMs} ms`))

await app.start()
console.log('it runs; Ctrl-C stops it')

process.once('SIGINT', async () => {
  await app.stop({ grace: '10s' })
  process.exit(0)
})
