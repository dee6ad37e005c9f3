// Priorities and retries. Its schedules are checked twice a minute and have no seconds, so the first process sends
// each due time as a delayed job some seconds ahead. Left out, because it does not have them: keys, overlap policies,
// logs.
import PgBoss from 'pg-boss'
import { jobKinds, timesDue, work } from './plan.mjs'

const aheadMs = 5000
const retry = { retryLimit: 2, retryDelay: 1 }

export async function open({ url, triggers, seconds, startAt, begin, isFirst }) {
  const boss = new PgBoss({ connectionString: url, schema: 'pgboss_day', max: 20 })
  boss.on('error', () => undefined)
  await boss.start()
  if (isFirst) for (const kind of jobKinds) await boss.createQueue(kind)
  const perform = async (kind, job) => {
    const attempt = job.retryCount + 1
    const number = begin(job.data.at, attempt)
    await work(kind, { number, attempt, log: () => undefined }).catch((error) =>
      boss.fail(kind, job.id, { message: error.message }),
    )
  }
  let timer
  return {
    start: async () => {
      for (const kind of jobKinds)
        await boss.work(
          kind,
          { batchSize: 20, pollingIntervalSeconds: 0.5, includeMetadata: true },
          async (jobs) => {
            await Promise.all(jobs.map((job) => perform(kind, job)))
          },
        )
      if (isFirst) timer = sendAhead(boss, dueTimes({ triggers, seconds, startAt }))
    },
    enqueue: ({ kind, priority }) => boss.send(kind, { at: Date.now() }, { priority, ...retry }),
    stop: () => {
      clearInterval(timer)
      return boss.stop({ graceful: false })
    },
  }
}

function sendAhead(boss, due) {
  let next = 0
  return setInterval(() => {
    const jobs = []
    for (; next < due.length && due[next].at < Date.now() + aheadMs; next += 1) {
      const { at, kind, priority } = due[next]
      jobs.push({ name: kind, data: { at }, startAfter: new Date(at).toISOString(), priority, ...retry })
    }
    if (jobs.length > 0) void boss.insert(jobs)
  }, 250)
}

function dueTimes({ triggers, seconds, startAt }) {
  const due = triggers.flatMap((trigger) =>
    Array.from({ length: timesDue(trigger, seconds) }, (_, i) => ({
      ...trigger,
      at: startAt + trigger.offsetMs + i * trigger.everyMs,
    })),
  )
  return due.toSorted((one, other) => one.at - other.at)
}
