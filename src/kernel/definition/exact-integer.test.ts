import { describe, expect, it } from 'vitest'
import { roundedInteger } from './exact-integer.js'

describe('an integer that would be rounded', () => {
  it.each([
    ['9007199254740993', { text: '9007199254740993', line: 1, column: 1 }],
    ['{"a": -9007199254740992}', { text: '-9007199254740992', line: 1, column: 7 }],
    [
      '{\n "12345678901234567890": ["\\"12345678901234567890", 12345678901234567890]}',
      { text: '12345678901234567890', line: 2, column: 53 },
    ],
  ])('is found with its position in %s', (json, found) => {
    expect(roundedInteger(json)).toEqual(found)
  })

  it.each([
    '9007199254740991',
    '[-9007199254740991, 1e30, 1234567890123456.5, "99999999999999999999"]',
    '{}',
  ])('is not found in %s', (json) => {
    expect(roundedInteger(json)).toBeUndefined()
  })

  it('is found after a long string without deep recursion', () => {
    const json = `["${'x\\"'.repeat(500_000)}", 99999999999999999999]`
    expect(roundedInteger(json)?.text).toBe('99999999999999999999')
  })
})
