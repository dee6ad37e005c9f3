import { triggerTag } from '../../kernel/audit/snapshot.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { TriggersPage } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import { triggerView } from '../../wire/views/definitions.js'
import { triggerState } from '../../wire/views/trigger-state.js'
import { Refusal } from '../../server/problem.js'
import type { App } from '../rota.js'
import { mostCounted } from './runs-page.js'

/** The query of a list of triggers. */
export interface TriggersQuery {
  readonly limit: number
  readonly order: 'name' | 'next'
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly search?: string | undefined
  readonly job?: string | undefined
  readonly queue?: string | undefined
  readonly source?: string | undefined
  readonly state: 'active' | 'paused' | 'ended' | 'any'
}

/** One trigger with its state. */
export async function triggerOf(app: App, name: string) {
  const stored = await app.triggers.get(name)
  const holds = await (await app.store()).holds({ openAt: app.now() })
  return viewOf(stored, holds)
}

/** One page of triggers. */
export async function triggersPage(
  app: App,
  { limit, after, before, state, job, queue, ...query }: TriggersQuery,
) {
  const store = await app.store()
  const holds = await store.holds({ openAt: app.now() })
  const paused = holds.flatMap(({ target }) => (target.startsWith('trigger:') ? [target.slice(8)] : []))
  const filter: Omit<TriggersPage, 'limit'> = {
    ...query,
    jobs: await jobsIn(store, job, queue),
    ...(state === 'paused' ? { names: paused } : {}),
    ...(state === 'any' ? {} : { active: state !== 'ended' }),
  }
  const cursor =
    before === undefined ? { after: readCursor(after, 'after') } : { before: readCursor(before, 'before') }
  // One more than requested shows whether there is another page in this direction.
  const found = await store.triggersPage({ ...filter, limit: limit + 1, ...cursor })
  const items = before === undefined ? found.slice(0, limit) : found.slice(-limit)
  const hasMore = found.length > limit
  const isAll = after === undefined && before === undefined && !hasMore
  const count = isAll
    ? found.length
    : (await store.triggersPage({ ...filter, limit: mostCounted + 1 })).length
  return {
    items: items.map((one) => viewOf(one, holds)),
    ...neighbours(items, { after, before, hasMore }),
    total: { count: Math.min(count, mostCounted), capped: count > mostCounted },
  }
}

/** The cursors of the neighbouring pages. */
function neighbours(
  items: readonly StoredTrigger[],
  { after, before, hasMore }: Pick<TriggersQuery, 'after' | 'before'> & { readonly hasMore: boolean },
) {
  const [first, last] = [items[0], items.at(-1)]
  const ahead = first === undefined ? after : cursorOf(first)
  const behind = last === undefined ? before : cursorOf(last)
  if (before !== undefined) return { next: behind, previous: hasMore ? ahead : undefined }
  return { next: hasMore ? behind : undefined, previous: after === undefined ? undefined : ahead }
}

/** The jobs whose triggers are requested; undefined for all. */
async function jobsIn(
  store: Store,
  job: string | undefined,
  queue: string | undefined,
): Promise<readonly string[] | undefined> {
  if (queue === undefined) return job === undefined ? undefined : [job]
  const jobs = (await store.jobs()).filter((one) => one.job.queue === queue).map((one) => one.job.name)
  return job === undefined ? jobs : jobs.filter((one) => one === job)
}

function viewOf(stored: StoredTrigger, holds: readonly Hold[]) {
  const pause = holds.find(({ target }) => target === `trigger:${stored.trigger.name}`)
  const tag = triggerTag(stored, pause)
  return { ...triggerView(stored, triggerState(stored, holds)), revision: stored.revision, tag }
}

function cursorOf({ trigger, nextAt }: StoredTrigger): string {
  return Buffer.from(JSON.stringify([trigger.name, nextAt])).toString('base64url')
}

function readCursor(text: string | undefined, field: 'after' | 'before'): TriggersPage['after'] {
  if (text === undefined) return undefined
  try {
    const [name, nextAt] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown]
    if (typeof name === 'string') return { name, nextAt: typeof nextAt === 'number' ? nextAt : undefined }
  } catch {
    // Not one of ours.
  }
  const path = `query/${field}`
  const message = `it is not the \`${field === 'after' ? 'next' : 'previous'}\` of a page`
  throw new Refusal('REQUEST_INVALID', `the request is not valid: ${path}: ${message}`, {
    faults: [{ path, message }],
  })
}
