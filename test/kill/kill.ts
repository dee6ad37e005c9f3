import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createApp, type App } from '../../src/app/rota.js'
import type { Run } from '../../src/kernel/run/run.js'
import { SeededRandom } from '../../src/testing/random.js'
import { allRuns } from '../fixtures/all-runs.js'
import { KilledPrograms } from './killed-programs.js'
import { checkPerformed, readPerformed } from './performed.js'

const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

/** The result of a campaign of kills. */
export interface KillReport {
  readonly kills: number
  readonly enqueued: number
  readonly runs: number
  readonly attempts: number
  readonly repeated: number
  /** All broken guarantees, one sentence each. */
  readonly broken: readonly string[]
}

/** Starts the real program twice on one store, kills either at random moments under load, and then checks the result. */
export async function killCampaign(options: {
  seed: number
  kills: number
  store: string
  directory: string
}): Promise<KillReport> {
  const campaign = new Campaign(options)
  await campaign.run()
  return await campaign.judge()
}

class Campaign {
  readonly #random: SeededRandom
  readonly #kills: number
  readonly #store: string
  readonly #performed: string
  readonly #programs: KilledPrograms
  readonly #acknowledged: string[] = []
  #isOver = false

  constructor(options: { seed: number; kills: number; store: string; directory: string }) {
    const { seed, kills, store, directory } = options
    const random = new SeededRandom(seed)
    this.#random = random
    this.#kills = kills
    this.#store = store
    this.#performed = join(directory, 'performed.txt')
    const env = { KILL_TEST_STORE: store, KILL_TEST_PERFORMED: this.#performed }
    this.#programs = new KilledPrograms({ config, env, random, roles: ['scheduler,worker', 'worker'] })
  }

  async run(): Promise<void> {
    await this.#programs.start()
    const load = this.#enqueueUnderLoad()
    for (let i = 0; i < this.#kills; i++) {
      await wait(this.#random.int(50, 700))
      await this.#programs.killAndRestart()
    }
    this.#isOver = true
    await Promise.all([load, this.#programs.allStarted()])
    await this.#untilQuiet()
    await this.#programs.stop()
  }

  async #enqueueUnderLoad(): Promise<void> {
    const app = createApp({ store: this.#store }, 'code:kill-test-client')
    while (!this.#isOver) {
      try {
        const { id } = await app.enqueue('work', { at: this.#acknowledged.length })
        this.#acknowledged.push(id)
      } catch (error) {
        if (!String(error).includes('no job is named')) throw error
      }
      await wait(5)
    }
    await app.close()
  }

  /** Waits until everything that was due more than a moment ago is done. */
  async #untilQuiet(): Promise<void> {
    const app = createApp({ store: this.#store }, 'code:kill-test')
    for (;;) {
      const unfinished = [
        ...(await app.runs.list({ state: 'pending' })),
        ...(await app.runs.list({ state: 'running' })),
      ]
      const oldest = Math.min(...unfinished.map((run) => run.runAt))
      const isCurrent = unfinished.length < 20 && oldest > Date.now() - 500
      if (unfinished.length === 0 || isCurrent) break
      await wait(100)
    }
    await app.close()
  }

  async judge(): Promise<KillReport> {
    const app = createApp({ store: this.#store }, 'code:kill-test')
    const runs = await allRuns(app)
    const performed = await readPerformed(this.#performed)
    const broken = [
      ...(await checkInstants(app, runs)),
      ...checkAcknowledged(this.#acknowledged, runs),
      ...checkEnds(runs),
      ...(await checkPerformed(app, { runs, performed }, ['lost', 'released'])),
    ]
    await app.close()
    const attempts = [...performed.values()].reduce((sum, list) => sum + list.length, 0)
    const repeated = [...performed.values()].filter((list) => list.length > 1).length
    return {
      kills: this.#kills,
      enqueued: this.#acknowledged.length,
      runs: runs.length,
      attempts,
      repeated,
      broken,
    }
  }
}

/** Every due time of every trigger, computed with simple arithmetic from its definition, has exactly one run. */
async function checkInstants(app: App, runs: readonly Run[]): Promise<string[]> {
  const broken: string[] = []
  for (const { trigger, definedAt, cursorAt } of await app.triggers.list()) {
    const { schedule } = trigger
    const everyMs = schedule.kind === 'interval' ? schedule.everyMs : 1000
    const anchorAt = schedule.kind === 'interval' ? (schedule.anchorAt ?? NaN) : 0
    const expected: number[] = []
    for (let k = Math.floor((definedAt - anchorAt) / everyMs) + 1; anchorAt + k * everyMs <= cursorAt; k++) {
      expected.push(anchorAt + k * everyMs)
    }
    const found = runs.filter((run) => run.trigger === trigger.name).map((run) => run.dueAt)
    const doubled = found.length - new Set(found).size
    const lost = expected.filter((at) => !found.includes(at))
    const extra = found.filter((at) => !expected.includes(at))
    if (expected.length === 0) broken.push(`${trigger.name} was never due`)
    if (doubled > 0) broken.push(`${trigger.name}: ${doubled} instants have two runs`)
    for (const at of lost) broken.push(`${trigger.name}: ${new Date(at).toISOString()} was lost`)
    for (const at of extra) broken.push(`${trigger.name}: ${new Date(at).toISOString()} was not due`)
  }
  return broken
}

function checkAcknowledged(acknowledged: readonly string[], runs: readonly Run[]): string[] {
  const known = new Set(runs.map((run) => run.id))
  return acknowledged.filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is gone`)
}

function checkEnds(runs: readonly Run[]): string[] {
  return runs
    .filter(({ state }) => state === 'failed' || state === 'cancelled')
    .map(({ id, state, reason }) => `${id} is ${state}: ${reason}`)
}
