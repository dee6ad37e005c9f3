// Runs with a key and with a limit, compared with the peers that have them: one at a time for each of 1,000 keys, fifty
// at a time in total. The peers take turns within a round. Exits with 1 if Rota is not --must times as fast with keys.
//
//   node bench/keyed.mjs [--count=10000] [--rounds=2] [--concurrency=20] [--must=5] [--dir=<scratch>]
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { inChild, inScratch, median } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'
import { startRedis } from './redis.mjs'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '2' },
    concurrency: { type: 'string', default: '20' },
    must: { type: 'string', default: '5' },
    capMs: { type: 'string', default: '15000' },
    dir: { type: 'string' },
  },
})
const { count, concurrency, capMs } = flags
/** The peers with which Rota is compared: on the same database if there is one. */
const subjects = [
  { name: 'Rota on SQLite', kind: 'key', flags: { peer: 'rota', variant: 'full' } },
  { name: 'Rota on Postgres', kind: 'key', flags: { peer: 'rota-postgres' }, needs: 'postgres' },
  {
    name: 'graphile-worker, named queues',
    kind: 'key',
    flags: { peer: 'graphile-worker' },
    needs: 'postgres',
  },
  {
    name: 'graphile-worker, the same with a local queue',
    kind: 'key',
    flags: { peer: 'graphile-worker', variant: 'local' },
    needs: 'postgres',
    isOffered: true,
  },
  { name: 'pg-boss, singleton keys', kind: 'key', flags: { peer: 'pg-boss' }, needs: 'postgres' },
  { name: 'Rota on SQLite', kind: 'limit', flags: { peer: 'rota', variant: 'full' } },
  { name: 'Rota on Postgres', kind: 'limit', flags: { peer: 'rota-postgres' }, needs: 'postgres' },
  { name: 'BullMQ, global concurrency', kind: 'limit', flags: { peer: 'bullmq' }, needs: 'redis' },
  { name: 'BullMQ, rate limiter', kind: 'rate', flags: { peer: 'bullmq' }, needs: 'redis' },
  { name: 'BullMQ, neither', kind: 'plain', flags: { peer: 'bullmq' }, needs: 'redis' },
]
const rates = new Map(subjects.map((subject) => [subject, []]))
const say = (text) => process.stderr.write(`${text}\n`)

await inScratch(flags.dir, async (scratch) => {
  const servers = { postgres: await startPostgres(scratch), redis: await startRedis(scratch) }
  if (servers.redis === undefined) say('BullMQ is left out: redis-server is not installed')
  try {
    for (let round = 0; round < Number(flags.rounds); round += 1)
      for (const subject of subjects) await measure(subject, servers, scratch)
  } finally {
    await servers.redis?.stop()
    await servers.postgres.stop()
  }
})
process.exit(print())

async function measure(subject, servers, scratch) {
  if (subject.needs !== undefined && servers[subject.needs] === undefined) return
  const address = { postgres: { url: servers.postgres.url }, redis: { redisPort: servers.redis?.port } }[
    subject.needs
  ]
  const result = await inScratch(scratch, (directory) =>
    inChild('./queue-child.mjs', {
      ...subject.flags,
      ...address,
      kind: subject.kind,
      workload: 'perform',
      count,
      concurrency,
      capMs,
      directory,
    }),
  )
  if (result.error !== undefined) return say(result.error)
  rates.get(subject).push(result.perSecond)
  say(`${subject.name}, ${subject.kind}: ${result.perSecond.toFixed(0)}/s`)
}

function print() {
  const of = (name, kind) =>
    median(rates.get(subjects.find((subject) => subject.name === name && subject.kind === kind)))
  const [sqlite, postgres] = [of('Rota on SQLite', 'key'), of('Rota on Postgres', 'key')]
  let missed = 0
  console.log(
    `${'what'.padEnd(48)}${['per second', 'Rota is', ''].map((text) => text.padStart(12)).join('')}`,
  )
  for (const { name, kind, needs, isOffered } of subjects) {
    const rate = of(name, kind)
    if (rate === undefined) continue
    const isPeer = !name.startsWith('Rota')
    const rota = kind === 'key' ? (needs === 'postgres' ? postgres : sqlite) : of('Rota on SQLite', 'limit')
    const ratio = isPeer ? `${(rota / rate).toFixed(1)} ×` : ''
    // The target is set against the peers' default settings.
    const isJudged = isPeer && kind === 'key' && isOffered !== true
    const isMissed = isJudged && rota / rate < Number(flags.must)
    if (isMissed) missed += 1
    const verdict = isJudged ? (isMissed ? 'MISSED' : 'pass') : ''
    const cells = [rate.toFixed(0), ratio, verdict].map((text) => text.padStart(12)).join('')
    console.log(`${`${name} (${kind})`.padEnd(48)}${cells}`)
  }
  console.log(`keyed runs must be ${flags.must} × a peer's; load ${loadavg()[0].toFixed(1)}`)
  return missed === 0 ? 0 : 1
}
