import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, fractionOf, instantOfRunId, randomRunId, runIdLength, runIdOf } from './identity.js'

const at = 1_767_571_200_000
const instants = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const parts = fc.array(fc.string(), { maxLength: 4 })

describe('run ids', () => {
  it('G1: an id is the same in every release, since stores full of runs depend on it', () => {
    expect(runIdOf({ at, parts: ['due', 't', String(at), ''] })).toBe('01ke5q86007jqwydqygchdm73t4fr7rdps31')
  })

  it('G1: equal occurrences have equal ids', () => {
    fc.assert(
      fc.property(instants, parts, (at, parts) => {
        expect(runIdOf({ at, parts: [...parts] })).toBe(runIdOf({ at, parts }))
      }),
    )
  })

  it('different lists of parts have different ids, however they are divided', () => {
    const divided = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['', 'abc'], ['2:ab', 'c'], ['ab1:c']]
    const ids = divided.map((parts) => runIdOf({ at, parts }))
    expect(new Set(ids).size).toBe(divided.length)
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b))
        expect(runIdOf({ at, parts: a })).not.toBe(runIdOf({ at, parts: b }))
      }),
    )
  })

  it('ids sort like their instants, and contain them', () => {
    fc.assert(
      fc.property(instants, instants, parts, (a, b, parts) => {
        const [one, other] = [runIdOf({ at: a, parts }), runIdOf({ at: b, parts: [] })]
        expect(instantOfRunId(one)).toBe(a)
        if (a !== b) expect(one < other).toBe(a < b)
      }),
    )
  })

  it('a random id has the form and the instant of any other, and is unique', () => {
    const ids = Array.from({ length: 2000 }, () => randomRunId(at))
    expect(new Set(ids).size).toBe(2000)
    for (const id of ids) {
      expect(id).toHaveLength(runIdLength)
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]+$/)
      expect(instantOfRunId(id)).toBe(at)
    }
  })

  it('random ids of one instant sort in the order of creation, and share nothing with those of another', () => {
    const ids = Array.from({ length: 5000 }, () => randomRunId(at))
    expect(ids.toSorted()).toEqual(ids)
    expect(randomRunId(at + 1).slice(14)).not.toBe(ids[0]?.slice(14))
    expect(randomRunId(at).slice(14)).not.toBe(ids[0]?.slice(14))
  })

  it('random ids of one instant differ in their first 14 characters, so that an abbreviation identifies one run', () => {
    const ids = Array.from({ length: 5000 }, () => randomRunId(at))
    expect(new Set(ids.map((id) => id.slice(0, 14))).size).toBe(5000)
  })

  it('an exhausted counter starts again with new random bits', () => {
    const first = randomRunId(at)
    let last = first
    let next = first
    while (next.slice(14) === first.slice(14)) [last, next] = [next, randomRunId(at)]
    expect(last.slice(10, 14)).toBe('zzzz')
    expect(last < next).toBe(false)
  })

  it('all 128 bits of randomness are in the id', () => {
    const drawn = (bytes: number[]) =>
      randomRunId(at, () => ({ bytes: Buffer.from(bytes), offset: 0 })).slice(10)
    expect(drawn(Array.from({ length: 16 }, () => 0))).toBe('0'.repeat(26))
    expect(drawn(Array.from({ length: 16 }, () => 255))).toBe(`7${'z'.repeat(25)}`)
    expect(drawn([...Array.from({ length: 15 }, () => 0), 1])).toBe(`${'0'.repeat(25)}1`)
  })
})

describe('numbers and fingerprints from a text', () => {
  it('a fraction is in [0, 1), depends only on the text, and differs between texts', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const fraction = fractionOf(text)
        expect(fraction).toBeGreaterThanOrEqual(0)
        expect(fraction).toBeLessThan(1)
        expect(fractionOf(text)).toBe(fraction)
      }),
    )
    expect(new Set(Array.from({ length: 100 }, (_, i) => fractionOf(`t${i}`))).size).toBe(100)
  })

  it('a fingerprint changes with the text', () => {
    expect(fingerprintOf('a')).toBe(fingerprintOf('a'))
    expect(fingerprintOf('a')).not.toBe(fingerprintOf('b'))
    expect(fingerprintOf('a')).toMatch(/^[0-9a-f]{32}$/)
  })
})
