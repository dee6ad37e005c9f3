import type { Run } from '../../kernel/run/run.js'
import type { Claim, Store } from '../../store/port.js'

const page = 1000

/** The claims of a worker according to the store, including those of a turn whose answer was lost. */
export async function claimsOf(store: Store, worker: string): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  for (let before: string | undefined; ; ) {
    const runs = await store.runs({ state: 'running', limit: page, before })
    claims.push(...runs.filter((run) => run.worker === worker).map(claimOf))
    before = runs.at(-1)?.id
    if (runs.length < page) return claims
  }
}

function claimOf(run: Run): Claim {
  const { id, job, trigger, attempt, failures, crashes, dueAt, partition, payload } = run
  const claimedAt = run.claimedAt ?? run.runAt
  const about = { run: id, job, trigger, attempt, failures, crashes, dueAt, partition, payload, claimedAt }
  return { ...about, hasEndEffect: true }
}
