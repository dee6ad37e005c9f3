import { expect, it } from 'vitest'
import {
  changed,
  endsOf,
  enqueue,
  minute,
  runOf,
  second,
  Stage,
  Work,
  type Process,
} from '../../../test/fixtures/engine-stage.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'

it('N12: a full disk costs no lease: running attempts continue, and ended ones are not repeated', async () => {
  const { stage, disk, work, ids, processes } = await onOneDisk()
  disk.isFull = true
  await work.end(1, { value: 'kept' })
  await stage.pass(5 * minute)
  expect(work.begun.map((run) => run.signal.aborted)).toEqual([false, false])
  disk.isFull = false
  await stage.pass(10 * second)
  expect(await runOf(stage, ids[1])).toMatchObject({ state: 'done', attempt: 1, result: 'kept' })
  await work.end(0, { value: 'done at last' })
  await stage.pass(5 * minute)
  expect(await runOf(stage, ids[0])).toMatchObject({ state: 'done', attempt: 1, result: 'done at last' })
  for (const process of processes) expectUntouched(process)
})

it('N12: once there is room, workers that could not renew get time to do so before they are judged', async () => {
  const { stage, disk, work, ids, processes } = await onOneDisk()
  disk.isFull = true
  await stage.pass(5 * minute)
  // The first process renews later than the second.
  disk.isFull = false
  disk.isFullFor = 'worker-1'
  await stage.pass(20 * second)
  disk.isFullFor = undefined
  await stage.pass(minute)
  expect(work.begun.map((run) => run.signal.aborted)).toEqual([false, false])
  expect(await endsOf(stage, ids[0])).toEqual([undefined])
  for (const process of processes) expectUntouched(process)
})

it('a worker whose lease was taken as soon as there was room stops immediately', async () => {
  const { stage, disk, work } = await onOneDisk()
  disk.isFull = true
  await stage.pass(minute)
  // A process that did not know that the disk was full.
  await stage.store.retire({ worker: 'worker-1', now: stage.clock.now() })
  await stage.pass(second)
  expect(work.begun.map((run) => run.signal.aborted)).toEqual([true, true])
})

it('runs of a worker that died while the disk was full are taken over within a lease after there is room', async () => {
  const { stage, disk, work, processes } = await onOneDisk()
  disk.isFull = true
  processes[0]?.kill()
  await stage.pass(5 * minute)
  disk.isFull = false
  await stage.pass(36 * second)
  expect(work.begun.map((run) => run.attempt)).toEqual([1, 1, 2, 2])
})

/** Two processes on a store whose disk can be full; the first performs two runs. */
async function onOneDisk() {
  const stage = new Stage()
  const work = new Work()
  const disk: FullDisk = { isFull: false, isFullFor: undefined }
  const cast = { jobs: { work: work.handler }, concurrency: 2, store: bounded(stage.store, disk) }
  const first = await stage.process(cast)
  const ids = await enqueue(stage, ['slow', 'quick'])
  const second = await stage.process(cast)
  return { stage, disk, work, ids, processes: [first, second] }
}

interface FullDisk {
  isFull: boolean
  /** The worker whose renewals fail because the disk is full. */
  isFullFor: string | undefined
}

/** The store on that disk: changes are refused while it is full. */
function bounded(store: Store, disk: FullDisk): Store {
  const refuse = (): never => {
    throw new RotaError('STORE_FULL', 'the disk is full; nothing was changed')
  }
  const guarded = <Args extends unknown[], T>(act: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => (disk.isFull ? refuse() : await act(...args))
  }
  return changed(store, {
    heartbeat: guarded((request) =>
      disk.isFullFor === request.worker ? refuse() : store.heartbeat(request),
    ),
    register: guarded((worker) => store.register(worker)),
    retire: guarded((request) => store.retire(request)),
    tick: guarded((batch) => store.tick(batch)),
    turn: async (turn) => {
      const isWriting = turn.finished.length > 0 || turn.claimRequest !== undefined
      return disk.isFull && isWriting ? refuse() : await store.turn(turn)
    },
    expire: async (request) => {
      const isWriting = (await store.workers()).some(({ leaseUntil }) => leaseUntil < request.deadline)
      return disk.isFull && isWriting ? refuse() : await store.expire(request)
    },
  })
}

function expectUntouched(process: Process): void {
  expect(process.of('worker:expired')).toEqual([])
  expect(process.of('run:lost')).toEqual([])
  expect(process.of('fatal')).toEqual([])
}
