import type { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jobDefaults, type Job } from '../../src/kernel/job/job.js'
import type { NewRun } from '../../src/kernel/run/run.js'
import { randomRunId } from '../../src/kernel/identity/identity.js'
import { slotsFor } from '../../src/kernel/identity/occurrence.js'
import { outcomes } from '../../src/store/conformance/stage.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import type { Claim, Finished, Store } from '../../src/store/port.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { Proxy } from '../fixtures/proxy.js'

/*
 * Many sessions record, claim, end and retry runs with keys, limits, unique keys and slots of triggers at the same time,
 * while transactions fail on purpose and connections are cut. At every moment no limit is exceeded, no count is wrong,
 * and no run waits at a slot with room (unless one of them waits at its next slot). In the end every run is done, once.
 */
const jobs = {
  free: { ...jobDefaults, name: 'free' },
  keyed: { ...jobDefaults, name: 'keyed' },
  limited: { ...jobDefaults, name: 'limited', concurrency: 3 },
  queued: { ...jobDefaults, name: 'queued', queue: 'few' },
} as const satisfies Record<string, Job>

const queueLimit = 2
const sessions = 6
const runsEach = Number(process.env['RUNS'] ?? 60)

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it.each([
  { of: 'slots, limits and unique keys', aRunOf: aRunOfAnyKind, leastPassedOn: 0 },
  { of: 'limits at which many runs wait', aRunOf: aLimitedRun, leastPassedOn: 5 },
])(
  'G3, G5, G6: $of hold with many sessions at once, through conflicts and cut connections',
  async (given) => {
    const url = stores.fresh()
    const schema = new URL(url).searchParams.get('schema') as string
    const first = await openPostgresStore({ url, clock: systemClock })
    const queues = [{ name: 'few', concurrency: queueLimit }]
    await first.defineJobs({ source: 'code:test', jobs: Object.values(jobs), queues, now: Date.now() })
    await failAtRandom(stores.client, schema)
    await countPassedOn(stores.client, schema)
    const diary = new Diary()
    const all = await Promise.all(
      Array.from({ length: sessions }, (_, i) => Session.open(url, `s${i}`, { diary, aRun: given.aRunOf })),
    )
    const looking = lookAtEveryMoment(await server.connect(url), schema)
    const trouble = setInterval(() => all[Math.floor(Math.random() * sessions)]?.cut(), 120)
    await Promise.all(all.map((session) => session.recordAndPerform(runsEach)))
    clearInterval(trouble)
    // Dropping the schema would lock one table after another, and the checks lock them in another order.
    await stores.client.query(`create or replace function ${schema}.fail() returns trigger language plpgsql
    as $$ begin return coalesce(new, old); end $$`)
    // If a wake-up was lost, a run would stay here.
    const deadline = Date.now() + 40_000
    let open = await unfinished(first)
    while (open > 0 && Date.now() < deadline) {
      await Promise.all(all.map((session) => session.turn()))
      await all[0]?.takeBack()
      open = await unfinished(first)
    }
    const found = await looking.stop()
    expect(diary.faults).toEqual([])
    expect(found.faults).toEqual([])
    expect(open).toBe(0)
    expect(found.looks).toBeGreaterThan(10)
    const { rows: passedOn } = await stores.client.query<{ n: number }>(
      `select last_value::int as n from ${schema}.passed_on`,
    )
    expect(passedOn[0]?.n).toBeGreaterThanOrEqual(given.leastPassedOn)
    const { rows } = await stores.client.query<{ gates: string; busy: string }>(
      `select (select count(*) from ${schema}.gates) as gates, (select sum(running) from ${schema}.queues) as busy`,
    )
    expect(rows[0]).toEqual({ gates: '0', busy: '0' })
    for (const session of all) await session.close()
    await first.close()
  },
  120_000,
)

async function unfinished(store: Store): Promise<number> {
  const { pending, running } = await store.counts()
  return pending + running
}

/** What the sessions together hold and have done. */
class Diary {
  readonly faults: string[] = []
  readonly #held = new Map<string, NewRun>()
  readonly #known = new Map<string, NewRun>()
  readonly #done = new Set<string>()

  know(run: NewRun): void {
    this.#known.set(run.id, run)
  }

  claimed({ run: id, attempt }: Claim): void {
    const run = this.#known.get(id) as NewRun
    if (this.#done.has(id)) this.faults.push(`${id} was claimed after it was done`)
    if (attempt === 1 && this.#held.has(id)) this.faults.push(`${id} was claimed twice`)
    this.#held.set(id, run)
    for (const { key, limit } of run.slots) {
      const inIt = [...this.#held.values()].filter(({ slots }) => slots.some((slot) => slot.key === key))
      if (inIt.length > limit) this.faults.push(`${inIt.length} runs are held in ${key}, which has ${limit}`)
    }
    const queued = [...this.#held.values()].filter(({ job }) => job === 'queued')
    if (queued.length > queueLimit) this.faults.push(`${queued.length} runs of the queue are held`)
  }

  gaveUp(id: string): void {
    this.#held.delete(id)
  }

  stored(id: string): void {
    if (this.#done.has(id)) this.faults.push(`${id} was stored twice`)
    this.#done.add(id)
  }
}

interface Given {
  readonly diary: Diary
  /** Makes the runs that a session records. */
  readonly aRun: (now: number) => NewRun
}

/** One process with a worker, behind a connection that can be cut. */
class Session {
  readonly store: Store
  readonly #proxy: Proxy
  readonly #diary: Diary
  readonly #aRun: (now: number) => NewRun
  readonly #name: string
  #worker = ''
  #lives = 0
  #finished: Finished[] = []
  #recorded = 0

  private constructor(store: Store, proxy: Proxy, given: Given & { name: string }) {
    this.store = store
    this.#proxy = proxy
    this.#name = given.name
    this.#diary = given.diary
    this.#aRun = given.aRun
  }

  static async open(url: string, name: string, given: Given): Promise<Session> {
    const behind = await Proxy.before(url)
    const store = await openPostgresStore({ url: behind.url, clock: systemClock })
    const session = new Session(store, behind.proxy, { ...given, name })
    await session.#register()
    return session
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.#proxy.close()
  }

  cut(): void {
    const when = Math.random() < 0.5 ? 'before' : 'answered'
    this.#proxy.cutAt({ at: 1 + Math.floor(Math.random() * 4), when })
  }

  async recordAndPerform(count: number): Promise<void> {
    while (this.#recorded < count) {
      await Promise.all([this.#enqueue(), this.#log(), this.turn()])
      if (Math.random() < 0.1) await this.takeBack()
    }
  }

  /** Ends about half of its runs, and claims. */
  async turn(): Promise<void> {
    const now = Date.now()
    const finished = this.#finished.filter(() => Math.random() < 0.6)
    for (const { run } of finished) this.#diary.gaveUp(run)
    const prefetch = Math.random() < 0.5 ? 4 : 0
    const claimRequest = { jobs: Object.keys(jobs), slots: 4, prefetch, prefetchLimited: prefetch / 2 }
    try {
      const answer = await this.store.turn({ worker: this.#worker, now, finished, claimRequest })
      const sent = new Set(finished)
      this.#finished = this.#finished.filter((one) => !sent.has(one))
      for (const [i, one] of finished.entries())
        if (answer.finished[i] === 'stored' && one.outcome.state === 'done') this.#diary.stored(one.run)
      for (const claim of answer.claims) {
        this.#diary.claimed(claim)
        this.#finished.push(endOf(claim, now))
      }
    } catch {
      // It is unknown what it holds: all its runs become lost, and another worker gets them.
      for (const { run } of this.#finished) this.#diary.gaveUp(run)
      this.#finished = []
      await this.#insist(() => this.store.retire({ worker: this.#worker, now }))
      await this.#register()
    }
  }

  /** Makes the runs of dead workers pending again. */
  async takeBack(): Promise<void> {
    await this.#insist(async () => {
      const now = Date.now()
      const lost = await this.store.expire({ now, deadline: now - 1_000_000, limit: 100 })
      const finished = lost.map(({ run, attempt }) => {
        return { run, attempt, outcome: outcomes.lost(now), startedAt: undefined, endedAt: now }
      })
      await this.store.turn({ worker: this.#worker, now, finished, claimRequest: undefined })
    })
  }

  async #register(): Promise<void> {
    this.#worker = `${this.#name}-${++this.#lives}`
    const entry = { id: this.#worker, host: 'here', pid: 1, version: '0' }
    await this.#insist(() => this.store.register({ ...entry, now: Date.now(), leaseMs: 3_600_000 }))
  }

  async #enqueue(): Promise<void> {
    const now = Date.now()
    const runs = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => this.#aRun(now))
    this.#recorded += runs.length
    for (const run of runs) this.#diary.know(run)
    const places = runs.map((run) => this.store.enqueue({ runs: [run], now }))
    for (const [i, answer] of (await Promise.allSettled(places)).entries()) {
      if (answer.status === 'rejected') continue
      const [{ id, created } = { id: '', created: false }] = answer.value
      if (created !== (id === runs[i]?.id))
        this.#diary.faults.push(`${id} was answered as created: ${created}`)
    }
  }

  async #log(): Promise<void> {
    const lines = this.#finished.map(({ run, attempt }) => {
      return { run, attempt, at: Date.now(), level: 'info', text: 'one line' } as const
    })
    await this.store.log(lines).catch(() => undefined)
  }

  async #insist(act: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await act()
      } catch (error) {
        if (tries > 20) throw error
      }
    }
  }
}

function endOf({ run, attempt }: Claim, now: number): Finished {
  const outcome = Math.random() < 0.2 && attempt < 5 ? outcomes.again(now) : outcomes.done
  return { run, attempt, outcome, startedAt: now, endedAt: now }
}

function aRunOfAnyKind(now: number): NewRun {
  const some = (count: number): number => Math.floor(Math.random() * count)
  const job = Object.values(jobs)[Math.min(3, some(6))] as Job
  const runAt = Math.random() < 0.1 ? now + some(200) : now
  const slots = [
    ...slotsFor({
      job,
      concurrencyKey: job.name === 'keyed' || Math.random() < 0.5 ? `k${some(5)}` : undefined,
    }),
  ]
  if (Math.random() < 0.3) slots.unshift({ key: `trigger:${job.name}-${some(3)}`, limit: 1 })
  const unique = Math.random() < 0.4 ? { uniqueKey: `u${some(2)}` } : {}
  const common = { origin: 'enqueue', dueAt: runAt, runAt, priority: some(3), payload: null } as const
  return { id: randomRunId(runAt), job: job.name, ...common, slots, ...unique }
}

/** So many of them are recorded that some always wait, and each is at one limit. */
function aLimitedRun(now: number): NewRun {
  const job = Math.random() < 0.8 ? jobs.limited : jobs.queued
  const common = { origin: 'enqueue', dueAt: now, runAt: now, priority: 0, payload: null } as const
  return {
    id: randomRunId(now),
    job: job.name,
    ...common,
    slots: [...slotsFor({ job, concurrencyKey: undefined })],
  }
}

/** Counts the runs that were claimed where they waited, by transactions without the lock of a slot. */
async function countPassedOn(client: Client, schema: string): Promise<void> {
  await client.query(`create sequence ${schema}.passed_on minvalue 0`)
  await client.query(`create function ${schema}.count_passed_on() returns trigger language plpgsql as $$ begin
    if not exists (select 1 from pg_locks where pid = pg_backend_pid() and classid = 1383036003) then
      perform nextval('${schema}.passed_on');
    end if;
    return new;
  end $$`)
  await client.query(`create trigger count before update on ${schema}.runs for each row
    when (old.state = 2 and new.state = 3) execute function ${schema}.count_passed_on()`)
}

/** Makes one of some hundred changed rows abort its transaction like a conflict, and slows others down, so that data that was read without a lock becomes stale. */
async function failAtRandom(client: Client, schema: string): Promise<void> {
  await client.query(`create function ${schema}.fail() returns trigger language plpgsql as $$ begin
    if random() < 0.004 then
      raise exception 'injected' using errcode = (array['40P01', '40001', '55P03'])[1 + floor(random() * 3)::int];
    end if;
    if random() < 0.03 then
      perform pg_sleep(0.01);
    end if;
    return coalesce(new, old);
  end $$`)
  for (const table of ['runs', 'gates', 'queues', 'log_use'])
    await client.query(`create trigger fail before insert or update or delete on ${schema}.${table}
      for each row execute function ${schema}.fail()`)
}

/** Checks repeatedly, each time in one statement, that committed data keeps the rules. */
function lookAtEveryMoment(client: Client, schema: string) {
  const held = `select slot ->> 0 as key, count(*) as held, max((slot ->> 1)::int) as most from ${schema}.runs
    cross join lateral json_array_elements(gates::json) slot where gates is not null and state in (1, 3) group by 1`
  const laws = `
    select 'slot ' || key || ' has let in ' || coalesce(admitted, 0) || ', and there are ' || coalesce(held, 0) as fault
      from (${held}) held full join ${schema}.gates using (key)
      where coalesce(admitted, 0) <> coalesce(held, 0) or held > most
    union all
    select id || ' waits at ' || waits_for || ', which has room and nobody who waits elsewhere in its place'
      from ${schema}.runs waiting cross join lateral json_array_elements(gates::json) slot
      where state = 2 and slot ->> 0 = waits_for
        and coalesce((select admitted from ${schema}.gates where key = waits_for), 0) < (slot ->> 1)::int
        and not exists (select 1 from ${schema}.runs other where other.state = 2 and other.waits_for <> waiting.waits_for
          and other.gates like '%' || to_json(waiting.waits_for)::text || '%')
    union all
    select 'the queue counts ' || running || ', and there are ' || found from ${schema}.queues
      cross join (select count(*) as found from ${schema}.runs where job = 'queued' and state = 3) busy
      where name = 'few' and (running <> found or found > ${queueLimit})
    union all
    select 'the key ' || unique_key || ' has ' || count(*) from ${schema}.runs
      where state < 4 and unique_key is not null group by job, unique_key having count(*) > 1`
  const faults = new Set<string>()
  let looks = 0
  const over = new AbortController()
  const looking = (async () => {
    while (!over.signal.aborted) {
      const { rows } = await client.query<{ fault: string }>(laws)
      for (const { fault } of rows) faults.add(fault)
      looks++
      await systemClock.sleep(2)
    }
  })()
  return {
    stop: async () => {
      over.abort()
      await looking
      await server.release(client)
      return { faults: [...faults].slice(0, 20), looks }
    },
  }
}
