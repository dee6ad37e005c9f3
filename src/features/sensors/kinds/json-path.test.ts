import { describe, expect, it } from 'vitest'
import type { Json } from '../../../kernel/definition/json.js'
import { parseJsonPath } from './json-path.js'

const body: Json = { a: { b: [{ c: 1 }, null], 'x y': 'z', "it's": 2, $: 3 }, ready: true, 'ü-1': 4 }

describe('a path', () => {
  it.each<[string, Json | undefined]>([
    ['ready', true],
    ['$.ready', true],
    ['a.b[0].c', 1],
    ['$.a.b[1]', null],
    ['$["a"].b[0]', { c: 1 }],
    ["a['x y']", 'z'],
    ["a['it\\'s']", 2],
    ['a.$', 3],
    ['ü-1', 4],
    ['$', body],
    ['a.b[2]', undefined],
    ['a.b.length', undefined],
    ['a.b[0].c.d', undefined],
    ['ready.x', undefined],
    ['constructor', undefined],
    ['a.__proto__', undefined],
    ['a[0]', undefined],
  ])('%s leads to %j', (path, value) => {
    expect(parseJsonPath(path)(body)).toEqual(value)
  })

  it.each([
    '',
    '.',
    'a.',
    'a..b',
    'a[',
    'a[-1]',
    'a[*]',
    '$..a',
    "a['b",
    'a b',
    'a[?(@.b)]',
    'x'.repeat(501),
  ])('%j is none', (path) => {
    expect(() => parseJsonPath(path)).toThrow(/is not a path; write it as/)
  })
})
