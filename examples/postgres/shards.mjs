// Two stores, each with its share of the customers. DATABASE_URL is the address of a Postgres database; in production
// each shard has its own server.
import { createHash } from 'node:crypto'
import { rota } from 'rota'

const url = process.env.DATABASE_URL
const separator = url.includes('?') ? '&' : '?'
const stores = ['rota_0', 'rota_1'].map((schema) => `${url}${separator}schema=${schema}`)

const shards = stores.map((store, number) => {
  const app = rota({ store, app: 'shop' })
  const bill = app.job('bill', async (run) => {
    console.log(`shard ${number} bills ${run.payload.customer}`)
  })
  return { app, bill }
})

/** The same customer always goes to the same shard, as long as the number of shards stays the same. */
function shardOf(customer) {
  const digest = createHash('sha256').update(customer).digest()
  return shards[digest.readUInt32BE(0) % shards.length]
}

/** Unique in the shard means unique everywhere, because the shard is chosen by the beginning of the key. */
async function bill(customer, month) {
  const { app, bill: job } = shardOf(customer)
  const uniqueKey = `${customer}/${month}`
  return await app.enqueue(
    job,
    { customer, month },
    { concurrencyKey: customer, uniqueKey, uniqueFor: '40d' },
  )
}

for (const { app } of shards) await app.start()
for (const customer of ['ann', 'bob', 'cy', 'ann']) await bill(customer, '2026-01')

/** A query about all shards asks each of them and joins the answers. */
async function billed() {
  const answers = await Promise.all(shards.map(({ app }) => app.runs.list({ job: 'bill', state: 'done' })))
  return answers.flat()
}
while ((await billed()).length < 3) await new Promise((resolve) => setTimeout(resolve, 50))
for (const { app } of shards) await app.stop()
console.log('three customers are billed, each once')
