import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ClockGuard } from '../../../engine/scheduler/clock-guard.js'
import { ErrorTracer } from '../../../engine/worker/error-tracer.js'
import { clockStateKey, clockStateValue } from '../../../kernel/state/clock-history.js'
import { planRunId } from '../../../kernel/identity/occurrence.js'
import { fileNameOf } from '../../../formats/queue-file.js'
import type { Store } from '../../../store/port.js'
import { systemClock } from '../../../time/clock.js'
import { formatInstant, type Instant } from '../../../time/instant.js'
import { programParts } from '../../../app/program-parts.js'
import { nextRun } from './next-run.js'
import { definePipelineJob } from '../../../engine/sync/pipeline-job.js'
import { makeQueue } from './directory.js'
import { workQueue } from './work.js'

const nowAt = Math.floor(systemClock.now() / 1000) * 1000
const minute = 60_000

it('Q11: a dry run names the run that a worker then takes, including expired leases and files of other programs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rota-next-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'p.yml'), 'steps: [{ uses: pass }]')
  const queue = { path: 'queue', directory, program: programParts }
  // Before Rota was used, only files describe the queue.
  put(directory, 'pending', file('f1', nowAt - 9 * minute))
  const now = (): Instant => systemClock.now()
  expect(await nextRun(undefined, queue, { now: now(), aheadMs: 0 })).toMatchObject({ item: { jobId: 'f1' } })
  let store = await makeQueue(queue)
  onTestFinished(() => store.close())
  await definePipelineJob(store, nowAt)
  await enqueue(store, 'x9', { dueAt: nowAt - 5 * minute })
  await enqueue(store, 'x1', { dueAt: nowAt - 5 * minute })
  await enqueue(store, 'urgent', { dueAt: nowAt - minute, priority: 5 })
  await enqueue(store, 'soon', { dueAt: nowAt + 20 * minute })
  await enqueue(store, 'later', { dueAt: nowAt + 10 * minute, priority: -1 })
  await enqueue(store, 'lapsed', { dueAt: nowAt - 7 * minute, priority: 9 })
  await store.register({
    id: 'dead',
    host: 'h',
    pid: 1,
    version: '0',
    now: nowAt - 3 * minute,
    leaseMs: 1000,
  })
  // The machine has not slept since the worker died.
  const before = { wall: now() - 5 * minute, monotonicMs: systemClock.monotonicMs() - 5 * minute }
  const changes = [{ ...clockStateKey, value: clockStateValue(before) }]
  await store.changeState({ changes, now: nowAt })
  const claimRequest = { jobs: ['pipeline'], slots: 1, prefetch: 0 }
  await store.turn({ worker: 'dead', now: nowAt - 3 * minute, finished: [], claimRequest })
  put(directory, 'running', { ...file('f0', nowAt - 6 * minute), lease_until: formatInstant(nowAt) })
  put(directory, 'running', { ...file('held', nowAt - 8 * minute), lease_until: '2999-01-01T00:00:00Z' })
  put(directory, 'pending', file('f2', nowAt - 5 * minute))
  // A store imports files of other programs when it is opened, and then every half second.
  await store.close()
  store = await makeQueue(queue)
  const taken: string[] = []
  const guard = await ClockGuard.open(store, systemClock, { acceptClock: false, history: 'kept' })
  await guard.confirmed(() => undefined, new AbortController().signal)
  for (;;) {
    const found = await nextRun(store, queue, { now: now(), aheadMs: 30 * minute })
    const worked = await workQueue(store, {
      queue,
      environment: {},
      aheadMs: 30 * minute,
      leaseMs: 30_000,
      extensions: [],
      steps: async () => new Map([['pass', () => undefined]]),
      signal: new AbortController().signal,
      onLine: () => undefined,
      tracer: new ErrorTracer(),
      onRun: () => undefined,
      onTrouble: () => undefined,
      guard,
    })
    if (worked?.kind !== 'run') {
      expect(found).toEqual({
        kind: 'nothing',
        reason: { code: 'queue_empty', message: 'nothing is due' },
      })
      break
    }
    expect(worked.worked.end).toBe('done')
    expect(found).toMatchObject({ kind: 'run', item: { id: worked.worked.run.id } })
    taken.push(found.kind === 'run' ? found.item.jobId : '')
  }
  expect(taken).toEqual(['lapsed', 'urgent', 'f1', 'f0', 'x9', 'x1', 'f2', 'later', 'soon'])
})

async function enqueue(
  store: Store,
  jobId: string,
  { dueAt, priority = 0 }: { readonly dueAt: Instant; readonly priority?: number },
): Promise<void> {
  const run = {
    id: planRunId(jobId, dueAt),
    job: 'pipeline',
    origin: 'enqueue',
    dueAt,
    runAt: dueAt,
    priority,
    slots: [],
    payload: { pipeline_path: 'p.yml', params: {} },
    labels: { job_id: jobId, run_id: jobId },
  } as const
  await store.enqueue({ runs: [run], now: nowAt - 4 * minute })
}

function file(jobId: string, dueAt: Instant): Record<string, unknown> {
  return {
    schema_version: 'v1',
    job_id: jobId,
    scheduled_for: formatInstant(dueAt),
    pipeline_path: 'p.yml',
    run_id: jobId,
  }
}

function put(directory: string, folder: string, value: Record<string, unknown>): void {
  const path = join(directory, 'queue', folder)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const name = fileNameOf(Date.parse(String(value['scheduled_for'])), String(value['job_id']))
  writeFileSync(join(path, name), JSON.stringify(value))
}
