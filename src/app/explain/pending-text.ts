import type { Hold } from '../../kernel/hold/hold.js'
import type { PendingReason } from '../../kernel/run/pending.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'

/** How instants and ids are written. */
export interface PendingWords {
  readonly time: (at: Instant) => string
  readonly id: (id: string) => string
}

/** Why a run waits, as a sentence without a full stop. */
export function pendingText(reason: PendingReason, words: PendingWords): string {
  switch (reason.kind) {
    case 'due-later':
      return `due later: ${words.time(reason.at)}`
    case 'retry':
      return retryText(reason, words)
    case 'snoozed':
      return `snoozed until ${words.time(reason.at)}${reason.reason === '' ? '' : `: ${reason.reason}`}`
    case 'held':
      return `${heldText(reason.hold)}${byText(reason.hold, words)}`
    case 'queue-paused':
      return `queue ${reason.queue} is paused${byText(reason.hold, words)}`
    case 'limit':
      return `${limitText(reason)}${holdersText(reason.holders, words)}`
    case 'queue-full':
      return `queue ${reason.queue} is full: at most ${reason.limit} at a time${holdersText(reason.holders, words)}`
    case 'rate-limit':
      return `${rateText(reason)}: the next one may start ${words.time(reason.at)}`
    case 'job-undefined':
      return `no source defines the job ${reason.job}`
    case 'no-worker':
      return 'no worker is alive'
    case 'draining':
      return reason.workers === 1
        ? 'the only live worker is draining'
        : `all ${reason.workers} live workers are draining`
    case 'no-handler':
      return `no live worker has the job ${reason.job}, a function of ${reason.source}`
    case 'slots-taken':
      return `all ${slotsText(reason)} are taken`
    case 'ready':
      return 'ready: a worker takes it within seconds'
  }
}

/** What to do about it, if anything. */
export function pendingTodo(reason: PendingReason): string | undefined {
  switch (reason.kind) {
    case 'held':
      return releaseOf(reason.hold.target)
    case 'queue-paused':
      return releaseOf(reason.hold.target)
    case 'job-undefined':
      return 'define the job, or cancel the run with `rota cancel`'
    case 'no-worker':
      return 'start one with `rota up`'
    case 'draining':
      return 'start another with `rota up`, or stop draining one with `rota workers undrain`'
    case 'no-handler':
      return 'start the program that defines it'
    case 'slots-taken':
      return 'raise `concurrency`, or start another worker'
    case 'queue-full':
      return 'wait, or raise the limit of the queue'
    case 'limit':
    case 'rate-limit':
    case 'due-later':
    case 'retry':
    case 'snoozed':
    case 'ready':
      return undefined
  }
}

/** The command that ends a hold. */
export function releaseOf(target: string): string {
  if (target === 'all') return '`rota thaw` ends it'
  const [kind, name] = target.split(/:(.*)/s)
  if (kind === 'switch') return `\`rota switch ${name} on\` ends it`
  return kind === 'queue' ? `\`rota resume --queue ${name}\` ends it` : `\`rota resume ${name}\` ends it`
}

function retryText(
  { at, failures, error }: Extract<PendingReason, { kind: 'retry' }>,
  { time }: PendingWords,
): string {
  const failed = failures === 1 ? '1 failure' : `${failures} failures`
  return `waits to retry: ${time(at)}, after ${failed}${error === undefined ? '' : `: ${error.message}`}`
}

/** What is held back. */
export function heldText({ target }: Pick<Hold, 'target'>): string {
  const [kind, name = ''] = target.split(/:(.*)/s)
  if (kind === 'switch') return `the switch ${name} is off`
  return kind === 'all' ? 'everything is frozen' : `the ${kind} is paused`
}

function byText({ actor, fromAt, untilAt, note }: Hold, { time }: PendingWords): string {
  const until = untilAt === undefined ? '' : ` until ${time(untilAt)}`
  return ` by ${actor} since ${time(fromAt)}${until}${note === '' ? '' : `: ${note}`}`
}

function limitText({ of, name, key, limit }: Extract<PendingReason, { kind: 'limit' }>): string {
  switch (of) {
    case 'trigger':
      return `trigger ${name} runs one at a time`
    case 'job':
      return `job ${name} runs at most ${limit} at a time`
    case 'key':
      return `job ${name} runs at most ${limit} at a time for the concurrency key ${key ?? ''}`
    case 'partition':
      return key === ''
        ? `asset ${name} is produced by one run at a time`
        : `partition ${key ?? ''} of ${name} is taken`
    case 'backfill':
      return `backfill ${name} runs at most ${limit} at a time`
    case 'service':
      return `service ${name} runs one at a time`
  }
}

function rateText({ of, name, key, max, perMs }: Extract<PendingReason, { kind: 'rate-limit' }>): string {
  const rate = `at most ${max} in ${formatDuration(perMs)}`
  return of === 'key'
    ? `job ${name} starts ${rate} for the concurrency key ${key ?? ''}`
    : `${of} ${name} starts ${rate}`
}

const mostHolders = 3

function holdersText(holders: readonly string[], { id }: PendingWords): string {
  if (holders.length === 0) return ''
  const named = holders.slice(0, mostHolders).map((one) => `run ${id(one)}`)
  const rest = holders.length - named.length
  return `; now: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function slotsText({ slots, workers }: Extract<PendingReason, { kind: 'slots-taken' }>): string {
  const of = workers === 1 ? 'the worker that has the job' : `the ${workers} workers that have the job`
  return `${slots} ${slots === 1 ? 'slot' : 'slots'} of ${of}`
}
