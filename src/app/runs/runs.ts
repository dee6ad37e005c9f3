import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within } from '../../kernel/definition/faults.js'
import { runIdLength } from '../../kernel/identity/identity.js'
import { isFinal, type Run } from '../../kernel/run/run.js'
import type { DryRun } from '../../kernel/definition/dry-run.js'
import type { Store } from '../../store/port.js'
import { namedText } from '../../text/error-text.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'

/** A shorter prefix matches nearly every run. */
const shortestPrefix = 4

/** How many runs are listed if several ids have the same prefix. */
const mostNamed = 3

/** The run with an id, or the only one whose id has this prefix. */
export async function findRun(store: Store, id: string): Promise<Run> {
  const text = id.toLowerCase()
  const found = text.length === runIdLength ? await store.run(text) : undefined
  if (found !== undefined) return found
  if (text.length < shortestPrefix) {
    const message = `${shown(id)} is not the id of a run (allowed: the id, or at least its first ${shortestPrefix} characters)`
    throw new RotaError('RUN_UNKNOWN', message)
  }
  const runs = await store.runsByPrefix(text, mostNamed + 1)
  if (runs.length === 1) return runs[0] as Run
  if (runs.length > 1) {
    const named = runs.slice(0, mostNamed).map((run) => `${run.id} (${run.job})`)
    const list = `${named.join(', ')}${runs.length > mostNamed ? ' …' : ''}`
    throw new RotaError(
      'RUN_UNKNOWN',
      `more than one run has an id that begins with ${namedText(id)}: ${list}`,
    )
  }
  throw new RotaError('RUN_UNKNOWN', `no run has the id ${namedText(id)}; \`rota runs\` shows the newest`)
}

/** Every list of runs shows the reason, so it must stay short. */
const longestReason = 4096

/** Cancels a run that is not final; returns whether its worker must stop it first. */
export async function cancelRun(
  store: Store,
  request: { id: string; reason: string; now: Instant } & DryRun,
): Promise<{ run: Run; requested: boolean }> {
  const { reason } = request
  const place = placeOf()
  if (reason.length > longestReason) {
    fault(within(place, 'note'), `it has ${reason.length} characters`, `at most ${longestReason} characters`)
  }
  refuse('the reason', place.faults)
  const before = await findRun(store, request.id)
  const { id } = before
  const answer =
    request.dryRun === true ? cancelAnswer(before) : await store.cancel({ run: id, now: request.now, reason })
  const run = await findRun(store, id)
  if (answer === 'final')
    throw new RotaError('RUN_STATE', `run ${id} is already ${run.state} and cannot be cancelled`)
  return { run, requested: answer === 'requested' }
}

/** What the store would return. */
function cancelAnswer({ state }: Run): 'cancelled' | 'requested' | 'final' {
  if (isFinal(state)) return 'final'
  return state === 'running' ? 'requested' : 'cancelled'
}

/** Makes a run that waits for its instant claimable now. */
export async function advanceRun(store: Store, request: { id: string; now: Instant } & DryRun): Promise<Run> {
  const { now } = request
  const before = await findRun(store, request.id)
  const { id } = before
  const isWaiting = before.state === 'pending' && before.runAt > now
  const answer = request.dryRun === true ? isWaiting : (await store.advance({ run: id, now })) === 'advanced'
  const run = await findRun(store, id)
  if (answer) return run
  const state = run.state === 'pending' ? 'pending and already due' : run.state
  throw new RotaError(
    'RUN_STATE',
    `run ${id} is ${state}; only a run that waits for its time can be advanced`,
  )
}

/** Polls until a run is final, also for runs that another process performs. */
export async function waitForRun(input: {
  store: Store
  clock: Clock
  id: string
  signal: AbortSignal | undefined
}): Promise<Run> {
  const { store, clock, signal } = input
  let hint = new AbortController()
  const unwatch = store.watch(() => hint.abort())
  try {
    for (;;) {
      // Created before the look, so that a hint during it ends the following sleep.
      hint = new AbortController()
      const run = await findRun(store, input.id)
      if (isFinal(run.state) || signal?.aborted === true) return run
      await clock.sleep(
        lookAgainMs,
        signal === undefined ? hint.signal : AbortSignal.any([signal, hint.signal]),
      )
    }
  } finally {
    unwatch()
  }
}

const lookAgainMs = 200
