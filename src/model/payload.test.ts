import { expect, it } from 'vitest'
import { toPayload } from './payload.js'

it('a payload is a frozen copy', () => {
  const value = { a: [1] }
  const payload = toPayload(value)
  expect(payload).toEqual(value)
  expect(payload).not.toBe(value)
  expect(Object.isFrozen((payload as typeof value).a)).toBe(true)
  expect(toPayload(undefined)).toBe(undefined)
})

it('a payload that JSON cannot carry, or that is too large, is refused with its code', () => {
  expect(() => toPayload({ f: Symbol('x') })).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_INVALID',
      message: 'payload: a symbol at f does not survive JSON (allowed: what JSON can carry)',
    }),
  )
  expect(() => toPayload('ä'.repeat(131_072))).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'payload: 262146 bytes of JSON are too many (allowed: at most 262144 bytes)',
    }),
  )
  expect(toPayload('x'.repeat(262_142))).toHaveLength(262_142)
})
