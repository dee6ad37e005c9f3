// One of the four processes of a company's day: performs runs, enqueues its part of the requests, and reports.
import { parseArgs } from 'node:util'
import { report, sleep } from './measure.mjs'
import { requestOf, triggersOf } from './day/plan.mjs'

const { values: flags } = parseArgs({
  options: {
    system: { type: 'string' },
    address: { type: 'string' },
    url: { type: 'string' },
    redisPort: { type: 'string' },
    directory: { type: 'string' },
    seconds: { type: 'string' },
    triggers: { type: 'string' },
    requests: { type: 'string' },
    processes: { type: 'string' },
    place: { type: 'string' },
    startAt: { type: 'string' },
  },
})
const seconds = Number(flags.seconds)
const startAt = Number(flags.startAt)
const endAt = startAt + seconds * 1000
const place = Number(flags.place)
const lateness = []
let attempts = 0
const begin = (dueAt, attempt) => {
  if (attempt === 1) lateness.push(Date.now() - dueAt)
  attempts += 1
  return attempts
}

const { open } = await import(`./day/${flags.system}.mjs`)
const system = await open({
  address: flags.address,
  url: flags.url,
  redisPort: flags.redisPort,
  directory: flags.directory,
  triggers: triggersOf(Number(flags.triggers), seconds),
  seconds,
  startAt,
  endAt,
  begin,
  isFirst: place === 0,
})
await system.start()
const isLate = Date.now() > startAt
await sleep(Math.max(0, startAt - Date.now()))
const cpuBefore = process.cpuUsage()
const sent = await enqueueAll()
// The last runs and the retries of the last failures get some time.
await sleep(Math.max(0, endAt + 5000 - Date.now()))
const { user, system: inKernel } = process.cpuUsage(cpuBefore)
const result = { lateness, attempts, sent, cpuUs: user + inKernel, isLate }
await Promise.race([system.stop(), sleep(5000)])
report(result)

/** This process's part of the requests, evenly over the hour; one call for each. */
async function enqueueAll() {
  const processes = Number(flags.processes)
  const total = Math.floor(Number(flags.requests) / processes)
  const open = []
  let calls = 0
  while (calls < total && Date.now() < endAt) {
    const wanted = Math.min(total, Math.floor(((Date.now() - startAt) * total) / (seconds * 1000)))
    for (; calls < wanted; calls += 1) open.push(system.enqueue(requestOf(calls * processes + place)))
    if (open.length > 100) await Promise.all(open.splice(0))
    await sleep(20)
  }
  await Promise.all(open)
  return calls
}
