import { expect, it } from 'vitest'
import { aJob } from '../../conformance/stage.js'
import type { Turn } from '../../port.js'
import type { Catalog } from '../../sql/catalog.js'
import { ProcessCache } from './process-cache.js'
import { oneCallTurn } from './one-call.js'

const limit = { max: 6, perMs: 60_000, burst: 1 }

function catalogOf(rates: Catalog['rates']): Catalog {
  const jobs = ['plain', 'limited', 'keyed'].map((name) => aJob(name))
  return {
    jobsRevision: 1,
    limitsRevision: 1,
    jobs: new Map(jobs.map((job) => [job.name, job])),
    storedJobs: jobs.map((job) => ({ job, source: 'code:test' })),
    rates,
    queues: [],
    queueLimits: new Map(),
    holds: [],
  }
}

const catalog = catalogOf(
  new Map([
    ['limited', { job: limit }],
    ['keyed', { key: limit }],
  ]),
)

function turnAt(now: number, jobs = ['plain', 'limited', 'keyed'], slots = 5): Turn {
  return { worker: 'w', now, finished: [], claimRequest: { jobs, slots, prefetch: 0 } }
}

function remembering(known: Catalog = catalog): ProcessCache {
  const remembered = new ProcessCache('here')
  remembered.catalog = known
  return remembered
}

it('a worker without a limited job looks for nothing', () => {
  expect(oneCallTurn(remembering(), turnAt(1, ['plain']))).toEqual({ turn: turnAt(1, ['plain']), catalog })
})

it('a worker with limited jobs takes the short way for the others, and looks whether a run may start', () => {
  const remembered = remembering()
  expect(oneCallTurn(remembered, turnAt(1))).toBeUndefined()
  remembered.rates.note(catalog, { at: 1, nextAt: Infinity, untilByJob: new Map([['limited', 100]]) })
  const { turn, rateLook } = oneCallTurn(remembered, turnAt(50)) as Extract<
    ReturnType<typeof oneCallTurn>,
    { turn: Turn }
  >
  expect(turn.claimRequest?.jobs).toEqual(['plain'])
  expect(rateLook).toEqual({ readyOf: ['keyed'], parkedOf: ['keyed'], fullOf: ['limited'], fullUntil: [100] })
  expect(oneCallTurn(remembered, turnAt(100))).toMatchObject({
    rateLook: { readyOf: ['limited', 'keyed'], fullOf: [] },
  })
})

it('a run that is known to wait is started when its time has come, without a look', () => {
  const remembered = remembering()
  remembered.rates.note(catalog, { at: 1, nextAt: 100, untilByJob: new Map([['limited', 100]]) })
  expect(oneCallTurn(remembered, turnAt(99))).toBeDefined()
  expect(oneCallTurn(remembered, turnAt(100))).toBeUndefined()
  // Runs with a limit are never claimed ahead.
  expect(oneCallTurn(remembered, turnAt(100, ['plain', 'limited'], 0))).toBeDefined()
})

it('what was known under other definitions, or before the clock was set back, says nothing', () => {
  const remembered = remembering()
  remembered.rates.note(catalog, { at: 50, nextAt: Infinity, untilByJob: new Map() })
  expect(oneCallTurn(remembered, turnAt(49))).toBeUndefined()
  remembered.catalog = catalogOf(catalog.rates)
  expect(oneCallTurn(remembered, turnAt(51))).toBeUndefined()
})
