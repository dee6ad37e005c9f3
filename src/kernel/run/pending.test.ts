import { describe, expect, it } from 'vitest'
import type { Hold } from '../hold/hold.js'
import { jobDefaults, type Job } from '../job/job.js'
import { pendingReasons, type LiveWorker, type WaitingFacts } from './pending.js'
import type { Run } from './run.js'

const now = 1_767_571_200_000

const shell: Job = { ...jobDefaults, name: 'work', handler: { kind: 'shell', argv: ['true'] } }
const aWorker: LiveWorker = { isDraining: false, slots: 2, running: 0, functions: new Set() }

function aRun(changes: Partial<Run> = {}): Run {
  const none = { trigger: undefined, version: undefined, partition: undefined, payload: undefined }
  const times = { claimedAt: undefined, startedAt: undefined, finishedAt: undefined }
  const ends = { result: undefined, error: undefined, reason: undefined, labels: undefined }
  return {
    id: 'r',
    job: 'work',
    origin: 'enqueue',
    ...none,
    ...times,
    ...ends,
    dueAt: now,
    runAt: now,
    state: 'pending',
    priority: 0,
    uniqueKey: undefined,
    attempt: 0,
    failures: 0,
    crashes: 0,
    worker: undefined,
    slots: [],
    waitsFor: undefined,
    cancelRequested: false,
    createdAt: now,
    ...changes,
  }
}

const slow = { max: 6, perMs: 60_000, burst: 1 }

function facts(changes: Partial<WaitingFacts> = {}): WaitingFacts {
  return {
    now,
    jobs: new Map([['work', { job: shell, source: 'config:shop' }]]),
    queues: new Map(),
    rates: new Map(),
    holds: [],
    workers: [aWorker],
    holding: [],
    ...changes,
  }
}

const hold = (target: Hold['target'], untilAt?: number): Hold => ({
  id: 1,
  target,
  fromAt: now - 10,
  untilAt,
  actor: 'ann',
  note: '',
  catchUp: false,
})

const withJob = (changes: Partial<Job>): Pick<WaitingFacts, 'jobs'> => ({
  jobs: new Map([['work', { job: { ...shell, ...changes }, source: 'code:shop' }]]),
})

describe('why a run is pending', () => {
  const error = { code: 'HANDLER_FAILED', message: 'no' }
  const slot = (key: string) => ({ slots: [{ key, limit: 1 }], waitsFor: key })
  const holding = (key: string) => [aRun({ id: 'other', state: 'running', slots: [{ key, limit: 1 }] })]

  it.each<{ name: string; run?: Partial<Run>; facts?: Partial<WaitingFacts>; reasons: unknown[] }>([
    { name: 'it is not due yet', run: { runAt: now + 1 }, reasons: [{ kind: 'due-later', at: now + 1 }] },
    {
      name: 'it waits to retry',
      run: { runAt: now + 5, failures: 2, error },
      reasons: [{ kind: 'retry', at: now + 5, failures: 2, error }],
    },
    {
      name: 'everything is frozen',
      facts: { holds: [hold('all')] },
      reasons: [{ kind: 'held', hold: hold('all') }],
    },
    {
      name: 'an ended freeze holds nothing',
      facts: { holds: [hold('all', now)] },
      reasons: [{ kind: 'ready' }],
    },
    {
      name: 'its queue is paused',
      facts: { holds: [hold('queue:default')] },
      reasons: [{ kind: 'queue-paused', queue: 'default', hold: hold('queue:default') }],
    },
    {
      name: 'its queue is full, and these runs fill it',
      facts: {
        queues: new Map([['default', { name: 'default', concurrency: 1 }]]),
        holding: [aRun({ id: 'other', state: 'running' })],
      },
      reasons: [{ kind: 'queue-full', queue: 'default', limit: 1, holders: ['other'] }],
    },
    {
      name: 'the rate limits of its queue and its key allow no start before an instant',
      run: { slots: [{ key: 'key:work=acme', limit: 1 }] },
      facts: {
        jobs: new Map([['work', { job: { ...shell, limitPerKey: slow }, source: 'config:shop' }]]),
        queues: new Map([['default', { name: 'default', concurrency: undefined, limit: slow }]]),
        rates: new Map([
          ['queue:default=', { freeAt: now + 4000, turns: [] }],
          ['key:work=acme', { freeAt: now + 8000, turns: [] }],
        ]),
      },
      reasons: [
        {
          kind: 'rate-limit',
          of: 'queue',
          name: 'default',
          key: undefined,
          max: 6,
          perMs: 60_000,
          at: now + 4000,
        },
        { kind: 'rate-limit', of: 'key', name: 'work', key: 'acme', max: 6, perMs: 60_000, at: now + 8000 },
      ],
    },
    {
      name: 'the limit of its job is used up; the current definition counts',
      run: slot('job:work'),
      facts: { holding: holding('job:work'), ...withJob({ concurrency: 3 }) },
      reasons: [{ kind: 'limit', of: 'job', name: 'work', key: undefined, limit: 3, holders: ['other'] }],
    },
    {
      name: 'its concurrency key is taken',
      run: slot('key:work=a=b'),
      facts: { holding: [...holding('key:work=a=b'), ...holding('key:work=c')] },
      reasons: [{ kind: 'limit', of: 'key', name: 'work', key: 'a=b', limit: 1, holders: ['other'] }],
    },
    {
      name: 'another run of its trigger is unfinished and also waits for a worker',
      run: slot('trigger:t'),
      facts: { workers: [] },
      reasons: [
        { kind: 'limit', of: 'trigger', name: 't', key: undefined, limit: 1, holders: [] },
        { kind: 'no-worker' },
      ],
    },
    {
      name: 'nobody defines its job',
      facts: { jobs: new Map() },
      reasons: [{ kind: 'job-undefined', job: 'work' }],
    },
    { name: 'no worker is alive', facts: { workers: [] }, reasons: [{ kind: 'no-worker' }] },
    {
      name: 'every worker drains',
      facts: { workers: [{ ...aWorker, isDraining: true }] },
      reasons: [{ kind: 'draining', workers: 1 }],
    },
    {
      name: 'no worker has the function',
      facts: withJob({ handler: { kind: 'function' } }),
      reasons: [{ kind: 'no-handler', job: 'work', source: 'code:shop', workers: 1 }],
    },
    {
      name: 'a worker that does not list its functions may have it',
      facts: {
        ...withJob({ handler: { kind: 'function' } }),
        workers: [{ ...aWorker, functions: undefined }],
      },
      reasons: [{ kind: 'ready' }],
    },
    {
      name: 'all slots of the workers that have it are taken',
      facts: {
        ...withJob({ handler: { kind: 'function' } }),
        workers: [aWorker, { ...aWorker, running: 2, functions: new Set(['work']) }],
      },
      reasons: [{ kind: 'slots-taken', slots: 2, workers: 1 }],
    },
    { name: 'nothing blocks it', reasons: [{ kind: 'ready' }] },
    { name: 'a run that is not pending waits for nothing', run: { state: 'done' }, reasons: [] },
  ])('$name', ({ run, facts: changes, reasons }) => {
    expect(pendingReasons(aRun(run), facts(changes))).toEqual(reasons)
  })
})
