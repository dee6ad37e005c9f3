import { describe, expect, it } from 'vitest'
import { TimeError } from '../../time/time-error.js'
import { RotaError } from './errors.js'
import { shown } from './faults.js'

const long = 'x'.repeat(1_000_000)

describe('an error', () => {
  it('is one bounded line without control characters, whatever values it contains', () => {
    const fault = { path: long, message: `${long}\u001b[31m`, allowed: long }
    const faults = Array.from({ length: 200 }, () => fault)
    const error = new RotaError('DEFINITION_INVALID', `${long}\n${long}`, { faults })
    expect(error.message.length).toBeLessThan(1700)
    expect(error.message).not.toContain('\n')
    expect(JSON.stringify(error.faults).length).toBeLessThan(200 * 1500)
    expect(error.faults[0]?.message).toMatch(/\\x1b\[31m$/)
    expect(new TimeError('CRON_SYNTAX', `"${long}\u0007": no`).message.length).toBeLessThan(1700)
  })

  it('lists its details one per line, and keeps its cause', () => {
    const cause = new Error('inside')
    const error = new RotaError('CONFIG_INVALID', 'x has 2 faults', { lines: ['  a\nb', '  c'], cause })
    expect(error.message).toBe('x has 2 faults:\n  a\\nb\n  c')
    expect(error.cause).toBe(cause)
  })
})

describe('a wrong value', () => {
  it.each([
    [new Map(), 'a Map'],
    [new URL('file:/x'), 'a URL'],
    [Object.create(null), 'a map'],
    [{}, 'a map'],
    [10n ** 1000n, expect.stringMatching(/^1000.{300,500}$/)],
  ])('is distinguishable from the expected one: %#', (value, text) => {
    expect(shown(value)).toEqual(text)
  })
})
