import { describe } from 'vitest'
import { auditLaws } from './cases/audit.js'
import { cancelAndRetryLaws } from './cases/cancel-and-retry.js'
import { changeRunsLaws } from './change-runs-laws.js'
import { chainLaws } from './cases/chains.js'
import { claimLaws } from './cases/claims.js'
import { autoPauseLaws } from './cases/policies/auto-pause.js'
import { calendarLaws } from './cases/policies/calendars.js'
import { burstLaws } from './cases/policies/burst.js'
import { rateLimitLaws } from './cases/policies/rate-limits.js'
import { deadLetterLaws } from './cases/policies/dead-letters.js'
import { promiseLaws } from './cases/policies/promises.js'
import { definitionLaws } from './cases/definitions.js'
import { drainingLaws } from './cases/draining.js'
import { expiryLaws } from './cases/expiry.js'
import { finishLaws } from './cases/finish.js'
import { slotLaws } from './cases/concurrency-slots.js'
import { holdLaws } from './cases/holds.js'
import { ledgerLaws } from './cases/ledger.js'
import { logLaws } from './cases/logs.js'
import { stateLaws } from './cases/state.js'
import { noticeLaws } from './notice-laws.js'
import { overviewLaws } from './cases/overview.js'
import { planningLaws } from './cases/planning.js'
import { randomOperations } from './random-operations.js'
import { readingLaws } from './cases/reading.js'
import { runFilterLaws } from './cases/run-filters.js'
import { rollUpLaws } from './cases/overview/roll-ups.js'
import { seriesLaws } from './cases/overview/series.js'
import { lawsFor, type OpenStore } from './stage.js'
import { uniqueLaws } from './cases/unique.js'

/** Declares the laws of the store port as tests of one adapter, with a number of random stories. */
export function conformance(
  name: string,
  open: OpenStore,
  options: { readonly stories?: number; readonly seed?: number | undefined } = {},
): void {
  const law = lawsFor(open)
  describe(`the ${name} store keeps the laws of the port`, () => {
    describe('definitions', () => definitionLaws(law))
    describe('planning', () => planningLaws(law))
    describe('calendars', () => calendarLaws(law))
    describe('claims', () => claimLaws(law))
    describe('concurrency limits', () => slotLaws(law))
    describe('finish', () => finishLaws(law))
    describe('notices', () => noticeLaws(law))
    describe('auto-pause', () => autoPauseLaws(law))
    describe('debounce and throttle', () => burstLaws(law))
    describe('rate limits', () => rateLimitLaws(law))
    describe('dead letters', () => deadLetterLaws(law))
    describe('promises', () => promiseLaws(law))
    describe('holds', () => holdLaws(law))
    describe('unique keys', () => uniqueLaws(law))
    describe('chains', () => chainLaws(law))
    describe('cancel and retry', () => cancelAndRetryLaws(law))
    describe('changes of several runs', () => changeRunsLaws(law))
    describe('expiry', () => expiryLaws(law))
    describe('draining', () => drainingLaws(law))
    describe('ledger and prune', () => ledgerLaws(law))
    describe('logs', () => logLaws(law))
    describe('state entries', () => stateLaws(law))
    describe('reading', () => readingLaws(law))
    describe('filters of runs', () => runFilterLaws(law))
    describe('overview', () => overviewLaws(law))
    describe('series and late runs', () => seriesLaws(law))
    describe('audit', () => auditLaws(law))
    describe('roll-ups', () => rollUpLaws(law))
    describe('random operations', () => randomOperations(open, options.stories, options.seed))
  })
}
