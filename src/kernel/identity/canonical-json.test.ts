import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.js'
import type { Json } from '../definition/json.js'

it('has its keys sorted at every depth and no spaces', () => {
  const value = { b: [1, { d: null, c: 'x y' }], 10: 1, 9: 2, a: true }
  expect(canonicalJson(value)).toBe('{"10":1,"9":2,"a":true,"b":[1,{"c":"x y","d":null}]}')
})

it('parses back to an equal value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
