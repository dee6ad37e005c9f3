// A process that plans the rounds with a given name prefix, performs what is due, and waits for the next instant. The
// parent sends the instants, so that two such processes check at the same one.
import { fileURLToPath } from 'node:url'

/** Plans and performs until nothing is due for the rounds of a player. */
export class Player {
  #options
  #random

  /** `options`: the store, the functions that plan, the name that its rounds begin with, a worker's id, a seed. */
  constructor(options) {
    this.#options = options
    this.#random = options.seed
  }

  async join(now) {
    const { store, worker } = this.#options
    const known = { id: worker, host: 'here', pid: 1, version: '0', now, leaseMs: 1e13 }
    await store.register(known)
  }

  async play(now) {
    let isIdle = false
    while (!isIdle) {
      const planned = await this.#plan(now)
      const performed = await this.#perform(now)
      isIdle = planned + performed === 0
    }
  }

  /** A few at a time, in a different order in every process, so that both try to start the same service. */
  async #plan(now) {
    const { store, prefix, planRound, roundFacts } = this.#options
    const all = await store.due({ now, limit: 1000 })
    const own = all.filter(({ trigger }) => trigger.name.startsWith(prefix))
    const due = own.toSorted(() => this.#draw() - 0.5)
    for (let i = 0; i < due.length; i += 25) {
      const part = due.slice(i, i + 25)
      const facts = await roundFacts(store, part, { startedAt: 0 })
      await store.tick(part.map((one) => planRound(one, facts.get(one.trigger.name), now)))
    }
    return due.length
  }

  async #perform(now) {
    const { store, worker, services } = this.#options
    const claimRequest = { jobs: services, slots: 1000, prefetch: 0 }
    const { claims } = await store.turn({ worker, now, finished: [], claimRequest })
    if (claims.length === 0) return 0
    const finished = claims.map(({ run, attempt }) => ({
      run,
      attempt,
      outcome: { end: 'done', state: 'done', result: undefined },
      startedAt: now,
      endedAt: now,
    }))
    await store.turn({ worker, now, finished, claimRequest: undefined })
    return claims.length
  }

  #draw() {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648
    return this.#random / 2_147_483_648
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))

async function main([url, prefix, seed, ...services]) {
  const { openStore } = await import('../../../../dist/app/store/open-store.js')
  const { systemClock } = await import('../../../../dist/time/clock.js')
  const { planRound } = await import('../../../../dist/features/rounds/plan.js')
  const { roundFacts } = await import('../../../../dist/features/rounds/facts.js')
  const options = { clock: systemClock, durability: 'normal', directory: '/', create: true }
  const store = await openStore(url, options)
  const worker = `worker-${prefix}`
  const player = new Player({ store, planRound, roundFacts, prefix, worker, services, seed: Number(seed) })
  await player.join(0)
  const answer = async (now) => {
    if (now === undefined) {
      await store.close()
      process.disconnect()
      return
    }
    await player.play(now)
    process.send({ now })
  }
  process.on('message', ({ now }) => void answer(now))
  process.send({ now: 'ready' })
}
