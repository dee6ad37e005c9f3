/** Rounds as `--json` and the API show them. */
import { pick } from '../../wire/to-json.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { triggerState } from '../../wire/views/trigger-state.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'
import type { Rounds } from './api.js'
import { roundStatus, storedRounds, type RoundState } from './status.js'
import { findRound } from './store-rounds.js'

/** What the commands and routes of rounds use of an app. */
export interface RoundsApp {
  readonly rounds: Rounds
  store(): Promise<Store>
  now(): Instant
}

/** The rounds, by name, with their status and the saved state of their open cycle. */
export async function listRounds(
  app: RoundsApp,
  { all, name }: { readonly all: boolean; readonly name?: string | undefined },
) {
  const store = await app.store()
  const rounds = (await storedRounds(store, { all })).filter(
    ({ trigger }) => name === undefined || trigger.name === name,
  )
  return await viewsOf(app, rounds)
}

/** One round, running or stopped. */
export async function oneRound(app: RoundsApp, name: string) {
  const [view] = await viewsOf(app, [await findRound(await app.store(), name)])
  return view
}

/** The saved state of an open cycle, without the name of its round. */
export function cycleView(state: RoundState): Omit<RoundState, 'name'> {
  return pick(state, ['checkedAt', 'servicesQueue', 'currentService', 'results'])
}

async function viewsOf(app: RoundsApp, rounds: readonly StoredTrigger[]) {
  const store = await app.store()
  const holds = await store.holds({ openAt: app.now() })
  const cycles = new Map((await app.rounds.state()).map((state) => [state.name, state]))
  return await Promise.all(
    rounds.map(async (stored) => {
      const { name } = stored.trigger
      const cycle = cycles.get(name)
      return {
        ...(await roundStatus(store, name, app.now())),
        state: roundState(stored, holds),
        source: stored.source,
        cycle: cycle === undefined ? undefined : cycleView(cycle),
      }
    }),
  )
}

/** The state of a round in a list. */
function roundState(stored: StoredTrigger, holds: readonly Hold[]): string {
  const state = triggerState(stored, holds)
  return state === 'ended' ? 'stopped' : state
}
