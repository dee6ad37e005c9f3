import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { rota } from '../../src/index.js'
import { Clients } from '../faults/clients.js'
import { Failover, until } from '../faults/failover.js'
import { judge } from '../faults/judge.js'
import { untilQuiet } from '../faults/quiet.js'
import { SeededRandom } from '../../src/testing/random.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const healMs = 10_000

it(`G7: with a synchronous standby, work continues within 10 s of a failover and nothing is lost (seed ${seed})`, async () => {
  const failover = await Failover.start({ isSynchronous: true })
  try {
    await failover.employ('scheduler,worker')
    await failover.employ('worker')
    const random = new SeededRandom(seed)
    const clients = new Clients({ store: failover.store, database: failover.store, random })
    await clients.start()
    await wait(5000)
    const switchedAt = await failover.failOver()
    await failover.performedSince(switchedAt)
    const healedMs = Date.now() - switchedAt
    await wait(3000)
    const asked = await clients.stop()
    await untilQuiet(failover.store)
    const { broken, ...counts } = await judge(failover.store, failover.diary, asked)
    console.log(
      `seed ${seed}: healed after ${healedMs} ms;`,
      JSON.stringify({ ...counts, refused: clients.refused }),
    )
    expect(broken.slice(0, 10)).toEqual([])
    expect(healedMs).toBeLessThan(healMs)
  } finally {
    await failover.end()
  }
})

it('G9: a failover to a lagging standby loses commits; processes notice it, claim nothing until it is accepted, and plan lost due times again', async () => {
  const failover = await Failover.start({ isSynchronous: false })
  try {
    const both = await failover.employ('scheduler,worker')
    const worker = await failover.employ('worker')
    await failover.performedSince(0)
    // Commits from now on never reach the standby.
    const standby = await failover.standby.connect()
    await standby.query(`alter system set primary_conninfo = ''`)
    await standby.query('select pg_reload_conf()')
    await standby.end()
    await wait(1000)
    const cutAt = Date.now()
    await wait(4000)
    const before = await failover.begun()
    const app = rota({ store: failover.store })
    const known = new Map(
      (await app.runs.list({ limit: 1000 })).map(({ id, trigger, dueAt }) => [
        id,
        { trigger, dueAt: dueAt.getTime() },
      ]),
    )
    await app.close()
    const switchedAt = await failover.failOver()
    await until(async () => both.ends.length > 0 && worker.ends.length > 0)
    const noticedMs = Date.now() - switchedAt
    expect([...both.ends, ...worker.ends].filter((end) => !end.includes('STORE_WENT_BACK'))).toEqual([])
    // Both are restarted repeatedly, and refuse to start.
    await wait(3000)
    const claimed = (await failover.begun()).filter(({ beganAt }) => beganAt > switchedAt)
    await Promise.all([both.stop(), worker.stop()])
    const acceptedAt = Date.now()
    await failover.employ('scheduler,worker', ['--accept-store'])
    await failover.performedSince(acceptedAt)
    await untilQuiet(failover.store)
    const again = rota({ store: failover.store })
    const runs = await again.runs.list({ limit: 1000 })
    await again.close()
    const ids = new Set(runs.map(({ id }) => id))
    const lost = before.filter(({ id, beganAt }) => {
      const { trigger, dueAt = 0 } = known.get(id) ?? {}
      // The due times that must not be missing.
      return beganAt > cutAt && dueAt > cutAt && ['grid', 'second', 'overlapping'].includes(trigger ?? '')
    })
    console.log(
      `noticed by both after ${noticedMs} ms; ${claimed.length} claims in between; ${lost.length} runs that were performed before were planned again`,
    )
    expect(claimed).toEqual([])
    expect(lost.length).toBeGreaterThan(0)
    expect(lost.filter(({ id }) => !ids.has(id))).toEqual([])
    expect(new Set(runs.map(({ trigger, dueAt }) => `${trigger} ${dueAt.getTime()}`)).size).toBe(runs.length)
  } finally {
    await failover.end()
  }
})
