import { createHash } from 'node:crypto'
import { defineJobs } from '../../engine/sync/sync.js'
import type { RunContext } from '../../engine/worker/perform.js'
import type { HandlerExtension, Outside } from '../../handlers/executable-jobs.js'
import { postTo } from '../../handlers/post-to.js'
import { deliveryRules } from '../../kernel/alert/delivery.js'
import { alertJobPrefix } from '../../kernel/alert/notice.js'
import type { Json } from '../../kernel/definition/json.js'
import type { SecretText } from '../../kernel/definition/secret-text.js'
import type { RunId } from '../../kernel/identity/identity.js'
import { slotsFor } from '../../kernel/identity/occurrence.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { PingKind } from '../../kernel/ping/ping.js'
import type { ConcurrencySlot } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** What is sent, and where. A secret address is a reference. */
export interface PingPayload {
  readonly kind: PingKind
  readonly url: SecretText
  readonly trigger: string
  /** Default: the run that sends it. */
  readonly run?: RunId | undefined
  readonly error?: string | undefined
  /** Whether the trigger was added at run time: then it must not reach private addresses. */
  readonly isFromApi?: boolean | undefined
}

/** The prefix of the jobs that send pings; no alert channel can have such a job. */
export const pingJobPrefix = `${alertJobPrefix}ping:`

/** The job whose runs send the pings of all triggers. */
export const pingJob = `${pingJobPrefix}run`

/** How pings are queued and retried. */
export const pingJobOptions = { ...deliveryRules, timeoutMs: 30_000 } as const satisfies Partial<Job>

const pingDefinition: Job = { ...jobDefaults, name: pingJob, ...pingJobOptions }

/** Sends the pings of one run one after another: the end waits for the start, even if the worker of the start died. */
export function pingSlots(run: RunId): readonly ConcurrencySlot[] {
  return slotsFor({ job: pingDefinition, concurrencyKey: run })
}

/** Defines the job of pings, which any worker performs. */
export async function definePingJob(store: Store, now: Instant): Promise<void> {
  const stored = await store.jobs()
  if (stored.some(({ job }) => job.name === pingJob)) return
  await defineJobs(store, { name: 'pings', jobs: [pingDefinition], queues: [] }, now)
}

/** Performs the runs of these jobs, in any worker. */
export const pingHandlers: HandlerExtension = {
  fallback: ({ job }, { outside }) =>
    job.name.startsWith(pingJobPrefix)
      ? (run) => sendRunPing(run.payload as PingPayload, run, outside)
      : undefined,
}

const suffixes: Readonly<Record<PingKind, string>> = { start: '/start', success: '', fail: '/fail' }

/** A start is tried once: if it were sent after the end, it would look like a run that hangs. */
async function sendRunPing(payload: PingPayload, run: RunContext, outside: Outside): Promise<Json> {
  try {
    return await sendPing({ ...payload, run: payload.run ?? run.id }, { ...outside, signal: run.signal })
  } catch (error) {
    if (payload.kind !== 'start' || run.signal.aborted) throw error
    return { isSent: false, error: error instanceof Error ? error.message : String(error) }
  }
}

/** Sends a ping in the format of healthchecks.io: the kind in the path, the run as `rid`, and a text. */
async function sendPing(
  { kind, url, trigger, run, error, isFromApi }: PingPayload & { readonly run: RunId },
  context: Parameters<typeof postTo>[2],
): Promise<Json> {
  const at = (given: URL): URL => {
    const made = new URL(given)
    made.pathname = `${made.pathname.replace(/\/$/, '')}${suffixes[kind]}`
    made.searchParams.set('rid', uuidOf(run))
    return made
  }
  const body = [`${trigger}: ${kind}`, `run ${run}`, ...(error === undefined ? [] : [error])].join('\n')
  const privateTargets = isFromApi === true ? 'refuse' : 'allow'
  return await postTo(url, { body, type: 'text/plain; charset=utf-8', at, privateTargets }, context)
}

/** The id of a run as a UUID, which receivers expect. */
function uuidOf(run: RunId): string {
  const hex = createHash('sha256').update(run).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
