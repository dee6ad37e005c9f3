/**
 * A reload is requested through the store, with one entry for each process. The process writes its answer into the
 * entry, and the requesting command removes it. So `rota reload` needs no address and no token, and reaches every host.
 */
import { randomUUID } from 'node:crypto'
import { isMap } from '../../kernel/definition/read-value.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateChange, StateEntry } from '../../kernel/state/state-entry.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { DefinitionFault } from '../definitions/check-definitions.js'
import type { ReloadReport } from './reload.js'

/** The answer of a process: what it changed, or why it changed nothing. */
export type ReloadAnswer =
  | ({ readonly outcome: 'reloaded' | 'planned' } & ReloadReport)
  | {
      readonly outcome: 'refused'
      readonly code: string
      readonly message: string
      readonly faults: readonly DefinitionFault[]
    }

/** A request that waits for the answer of one process. */
export interface ReloadRequest {
  readonly process: string
  readonly id: string
  readonly dryRun: boolean
}

/** How often a requester looks for answers. */
const lookEveryMs = 100

/** Asks processes, by the names of their records, to read their configs again. */
export async function requestReload(
  store: Store,
  { processes, dryRun, now }: { processes: readonly string[]; dryRun: boolean; now: Instant },
): Promise<readonly ReloadRequest[]> {
  const id = randomUUID()
  const changes = processes.map((name): StateChange => ({ ...keyOf(name, id), value: { dryRun } }))
  if (changes.length > 0) await store.changeState({ changes, now })
  return processes.map((process) => ({ process, id, dryRun }))
}

/** Waits for answers until all are there or the signal aborts, and removes the requests. */
export async function answersTo(
  store: Store,
  requests: readonly ReloadRequest[],
  { clock, now, signal }: { clock: Clock; now: () => Instant; signal: AbortSignal },
): Promise<ReadonlyMap<string, ReloadAnswer>> {
  const answers = new Map<string, ReloadAnswer>()
  const [{ id } = { id: '' }] = requests
  for (;;) {
    for (const { process } of requests) {
      if (answers.has(process)) continue
      const [entry] = await store.stateEntries({ kind: 'reload', names: [process], items: [id], limit: 1 })
      const answer = entry === undefined ? undefined : answerIn(entry.value)
      if (answer !== undefined) answers.set(process, answer)
    }
    if (answers.size === requests.length || signal.aborted) break
    await clock.sleep(lookEveryMs, signal)
  }
  const changes = requests.map(({ process }): StateChange => ({ ...keyOf(process, id), value: undefined }))
  if (changes.length > 0) await store.changeState({ changes, now: now() })
  return answers
}

/** The requests to a process that it has not answered, and its answers that were not fetched. */
export async function requestsTo(
  store: Store,
  process: string,
): Promise<{ readonly open: readonly ReloadRequest[]; readonly answered: readonly StateEntry[] }> {
  const entries = await store.stateEntries({ kind: 'reload', names: [process], limit: mostRequests })
  const isOpen = ({ value }: StateEntry): boolean => answerIn(value) === undefined
  const open = entries
    .filter(isOpen)
    .map(({ item, value }) => ({ process, id: item, dryRun: isMap(value) && value['dryRun'] === true }))
  return { open, answered: entries.filter((entry) => !isOpen(entry)) }
}

const mostRequests = 100

/** Answers requests, and removes answers that were not fetched in time. */
export async function answerRequests(
  store: Store,
  {
    requests,
    answer,
    stale,
    now,
  }: { requests: readonly ReloadRequest[]; answer: ReloadAnswer; stale: readonly StateEntry[]; now: Instant },
): Promise<void> {
  const value = { answer } as unknown as Json
  const changes: StateChange[] = [
    ...requests.map(({ process, id }) => ({ ...keyOf(process, id), value })),
    ...stale.map(({ name, item }) => ({ ...keyOf(name, item), value: undefined })),
  ]
  await store.changeState({ changes, now })
}

function answerIn(value: Json): ReloadAnswer | undefined {
  return isMap(value) ? (value['answer'] as ReloadAnswer | undefined) : undefined
}

function keyOf(name: string, item: string): Pick<StateChange, 'kind' | 'name' | 'item'> {
  return { kind: 'reload', name, item }
}
