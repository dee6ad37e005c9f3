// Jobs as functions: signal, permanent failures, idempotency, unique and concurrency keys. It exits when it is done.
import { PermanentError, rota } from 'rota'

const app = rota({ app: 'functions', store: 'sqlite:data/functions.db' })

/** Stands for a service that remembers its requests, as a good one does. */
const charged = new Map()

const charge = app.job(
  'charge',
  async (run) => {
    const { customer, amount } = run.payload
    if (amount <= 0) throw new PermanentError(`an amount of ${amount} will not get better`)
    // The id is the same for every attempt, so the receiver recognises a repeated request.
    if (!charged.has(run.id)) charged.set(run.id, { customer, amount })
    if (run.attempt === 1) throw new Error('the answer got lost')
    run.log(`charged ${customer} in attempt ${run.attempt}`)
    return charged.get(run.id)
  },
  { retry: { attempts: 3, delay: '100ms' }, timeout: '5s', concurrencyPerKey: 1 },
)

const slow = app.job(
  'slow',
  async (run) => {
    // A function that obeys its signal ends immediately when it is cancelled or timed out.
    await new Promise((resolve, reject) => {
      run.signal.addEventListener('abort', () => reject(run.signal.reason), { once: true })
    })
  },
  { timeout: '200ms' },
)

await app.start()

// One run at a time for each customer, and no second run for an order that is unfinished.
const options = { concurrencyKey: 'customer-7', uniqueKey: 'order-1', uniqueFor: '1h' }
const first = await app.enqueue(charge, { customer: 7, amount: 10 }, options)
const second = await app.enqueue(charge, { customer: 7, amount: 10 }, options)
console.log(`the same run: ${first.id === second.id}, charged ${(await app.runs.wait(first.id)).state}`)

const refused = await app.enqueue(charge, { customer: 8, amount: 0 })
console.log(`refused: ${(await app.runs.wait(refused.id)).error?.message}`)

const late = await app.enqueue(slow)
console.log(`slow: ${(await app.runs.wait(late.id)).error?.code}`)

console.log(`charged ${charged.size} time`)
await app.stop()
