import { describe } from 'vitest'
import { cancelAndRetryLaws } from './cancel-and-retry.js'
import { chainLaws } from './chains.js'
import { claimLaws } from './claims.js'
import { definitionLaws } from './definitions.js'
import { drainingLaws } from './draining.js'
import { expiryLaws } from './expiry.js'
import { finishLaws } from './finish.js'
import { gateLaws } from './gates.js'
import { holdLaws } from './holds.js'
import { ledgerLaws } from './ledger.js'
import { logLaws } from './logs.js'
import { noteLaws } from './notes.js'
import { planningLaws } from './planning.js'
import { randomOperations } from './random-operations.js'
import { readingLaws } from './reading.js'
import { lawsFor, type OpenStore } from './stage.js'
import { uniqueLaws } from './unique.js'

/** Declares the laws of the store port as tests of one kind of store; random stories are as many as it has time for. */
export function conformance(
  name: string,
  open: OpenStore,
  options: { readonly stories?: number; readonly seed?: number | undefined } = {},
): void {
  const law = lawsFor(open)
  describe(`the ${name} store keeps the laws of the port`, () => {
    describe('definitions', () => definitionLaws(law))
    describe('planning', () => planningLaws(law))
    describe('claims', () => claimLaws(law))
    describe('gates', () => gateLaws(law))
    describe('finish', () => finishLaws(law))
    describe('holds', () => holdLaws(law))
    describe('unique keys', () => uniqueLaws(law))
    describe('chains', () => chainLaws(law))
    describe('cancel and retry', () => cancelAndRetryLaws(law))
    describe('expiry', () => expiryLaws(law))
    describe('draining', () => drainingLaws(law))
    describe('ledger and prune', () => ledgerLaws(law))
    describe('logs', () => logLaws(law))
    describe('notes', () => noteLaws(law))
    describe('reading', () => readingLaws(law))
    describe('random operations', () => randomOperations(open, options.stories, options.seed))
  })
}
