// An order and its mail: both, or neither. DATABASE_URL is the address of a Postgres database.
import pg from 'pg'
import { rota } from 'rota'

const url = process.env.DATABASE_URL
const separator = url.includes('?') ? '&' : '?'
const app = rota({ store: `${url}${separator}schema=rota`, app: 'shop' })

const mail = app.job('mail', async (run) => {
  console.log(`mail about order ${run.payload.order}`)
})
await app.start()

const client = new pg.Client({ connectionString: url })
await client.connect()
await client.query('create table if not exists orders (id int primary key, sum int check (sum > 0))')
await client.query('truncate orders')
for (const [id, sum] of [
  [1, 250],
  [2, -1],
  [3, 80],
]) {
  await client.query('begin')
  try {
    await app.enqueue(mail, { order: id }, { tx: client })
    await client.query('insert into orders values ($1, $2)', [id, sum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    console.log(`order ${id} was refused: ${error.constraint}`)
  }
}

// The same in SQL, for database triggers and for programs in other languages.
await client.query(`select rota.enqueue('mail', '{"order": 4}')`)
await client.end()

while ((await app.runs.list({ state: 'done', job: 'mail' })).length < 3) {
  await new Promise((resolve) => setTimeout(resolve, 50))
}
await app.stop()
console.log('all mails are out')
