/**
 * `Idempotency-Key`: a request that is repeated with its key gets the same answer and is not performed again. The key
 * is a state entry, so this works across processes and restarts:
 *
 *   running ─ the transaction of the change ─▶ changed ─ the answer is kept ─▶ done
 *
 * A process that dies while its request is running has changed nothing: after a minute the key can be taken over, and
 * the transaction of the first request is then refused. A process that dies later has made the change, and the key
 * contains what was changed. The next request is answered from the store if its route can do that (`again`); otherwise
 * it is refused with the list of changes.
 */
import { createHash } from 'node:crypto'
import { requestsKeptMs } from '../engine/upkeep/kept.js'
import type { ChangeOptions, NamedChange } from '../kernel/audit/change-options.js'
import type { StateEntry } from '../kernel/state/state-entry.js'
import type { Store } from '../store/port.js'
import type { Instant } from '../time/instant.js'
import { problemAnswer, safeHeaders, toResponse, type Answer } from './answer.js'
import { isKnown, Refusal } from './problem.js'

/** How long a request may take before its key can be taken over. */
const runningMs = 60_000

/** How many of the changes of a request are listed. */
const mostNamed = 20

/** The longest answer that is stored. */
const mostCharacters = 64 * 1024

/** A request with a key. */
export interface KeyedRequest {
  readonly store: Store
  readonly now: () => Instant
  readonly actor: string
  readonly key: string
  /** The parts of the request that must be the same. */
  readonly text: string
  /** Whether its answer must not be stored. */
  readonly isSecret: boolean
  /** Answers from the store after the change was made, if the route can. */
  readonly again: ((changed: readonly NamedChange[]) => Promise<Answer>) | undefined
}

/** The stored form of a request. */
interface Kept {
  readonly fingerprint: string
  readonly step: 'running' | 'changed' | 'done'
  readonly at: Instant
  /** What was changed. */
  readonly changed?: readonly NamedChange[]
  readonly status?: number
  readonly type?: string
  /** Absent if it was too long, or contains a secret. */
  readonly body?: string
}

/** The key of a request, if it has one. */
export function keyOf(headers: Headers): string | undefined {
  const text = headers.get('idempotency-key')
  if (text === null) return undefined
  const [, quoted, bare] = /^(?:"([!#-~ ]{1,255})"|([!#-~]{1,255}))$/.exec(text) ?? []
  const key = quoted ?? bare
  if (key !== undefined) return key
  throw new Refusal('REQUEST_MALFORMED', 'the Idempotency-Key is not a text of 1 to 255 ASCII characters')
}

/** Performs a request unless one with its key was performed; `perform` gets the state for its transaction to write. */
export async function onlyOnce(
  request: KeyedRequest,
  perform: (alongside: NonNullable<ChangeOptions['alongside']>) => Promise<Answer>,
): Promise<Answer> {
  const { store, now, text } = request
  const key = { kind: 'request', name: digestOf(`${request.actor}\n${request.key}`), item: '' } as const
  const fingerprint = digestOf(text)
  const [entry] = await store.stateEntries({ kind: key.kind, names: [key.name], limit: 1 })
  const known = entry === undefined ? undefined : keptOf(entry)
  const repeated = known === undefined ? undefined : await answerAgain(known, { ...request, fingerprint })
  if (repeated !== undefined) return repeated
  const running = { fingerprint, step: 'running', at: now() } as const
  const revision = entry?.revision ?? 0
  const claimed = await store.changeState({ changes: [{ ...key, revision, value: running }], now: now() })
  if (claimed === 'stale') throw inUse()
  const own = revision + 1
  let changed: { action: string; target: string; subjects: readonly string[] }[] | undefined
  const response = toResponse(
    await answered(() =>
      perform((changes) => {
        // A request with several changes writes the same state with each, so the key is written with the first.
        changed ??= changes.slice(0, mostNamed).map((change) => ({ ...change }))
        return [{ ...key, revision: own, value: { ...running, step: 'changed', changed } }]
      }),
    ),
  )
  if (response.status < 400) await keep()
  else {
    // If nothing was changed, the key is free again. Otherwise the answer is stored with it.
    const freed = await store.changeState({
      changes: [{ ...key, revision: own, value: undefined }],
      now: now(),
    })
    if (freed === 'stale') await keep()
  }
  return response

  async function keep(): Promise<void> {
    const body = await response.clone().text()
    const isKept = !request.isSecret && body.length <= mostCharacters
    const type = response.headers.get('content-type') ?? 'application/json'
    const value = {
      fingerprint,
      step: 'done',
      at: now(),
      changed: changed ?? [],
      status: response.status,
      type,
    }
    const change = { ...key, value: isKept ? { ...value, body } : value }
    await store.changeState({ changes: [change], now: now() })
  }
}

/** The answer of an earlier request with the same key; undefined if there was none that counts. */
async function answerAgain(
  known: Kept,
  { fingerprint, now, again }: Pick<KeyedRequest, 'now' | 'again'> & { fingerprint: string },
): Promise<Answer | undefined> {
  if (known.at < now() - requestsKeptMs) return undefined
  if (known.fingerprint !== fingerprint) {
    throw new Refusal('KEY_REUSED', 'this Idempotency-Key was used for another request')
  }
  const { step, changed = [] } = known
  const isRecent = known.at > now() - runningMs
  if (step === 'running' && !isRecent) return undefined
  if (step === 'changed' && again !== undefined) return replayed(toResponse(await again(changed)))
  if (step !== 'done' && isRecent) throw inUse()
  if (step !== 'done' || known.body === undefined) throw lost(changed)
  const headers = { ...safeHeaders, 'content-type': known.type ?? '' }
  return replayed(new Response(known.body, { status: known.status ?? 200, headers }))
}

function replayed(response: Response): Response {
  response.headers.set('idempotency-replayed', 'true')
  return response
}

function lost(changed: readonly NamedChange[]): Refusal {
  const names = changed.map(({ action, target }) => `${action} ${target}`).join(', ')
  const message = `the change of this Idempotency-Key was made (${names}); its answer was not stored`
  return new Refusal('ANSWER_LOST', message, { changed })
}

/** Converts a refusal to an answer; any other error is thrown. */
async function answered(perform: () => Promise<Answer>): Promise<Answer> {
  try {
    return await perform()
  } catch (error) {
    if (!isKnown(error)) throw error
    return problemAnswer(error)
  }
}

function inUse(): Refusal {
  return new Refusal('KEY_IN_USE', 'a request with this Idempotency-Key is in progress')
}

function keptOf({ value }: StateEntry): Kept {
  return value as unknown as Kept
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
