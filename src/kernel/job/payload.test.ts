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

it('a payload that is not JSON or too large is refused with its code', () => {
  expect(() => toPayload({ f: Symbol('x') })).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_INVALID',
      message: 'payload: a symbol at f cannot be represented in JSON (allowed: JSON values)',
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

it('a payload equals its round trip through JSON', () => {
  const values = [
    -0,
    null,
    [-0, [], {}],
    { a: undefined, b: [{ c: 'ä\ud800' }] },
    JSON.parse('{"__proto__":{"a":1},"b":2}'),
  ]
  for (const value of values) expect(JSON.stringify(toPayload(value))).toBe(JSON.stringify(value))
  expect(Object.is(toPayload(-0), 0)).toBe(true)
  expect(Object.getPrototypeOf(toPayload(values.at(-1)))).toBe(Object.prototype)
})

it('a refusal names the place inside the payload, except for one that is too deep', () => {
  const refusals: [unknown, string][] = [
    [{ a: [{ b: Number.NaN }] }, 'NaN at a[0].b cannot'],
    [[1, [2, undefined]], 'nothing at [1][1] cannot'],
    [Number.POSITIVE_INFINITY, 'payload: Infinity cannot'],
    [{ at: new Date(0) }, 'a Date at at cannot'],
  ]
  for (const [value, message] of refusals) expect(() => toPayload(value)).toThrow(message)
  let deep: unknown = []
  for (let i = 0; i < 200; i++) deep = { deep }
  expect(() => toPayload(deep)).toThrow('payload: something deeper than 100 levels cannot')
})
