import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { OrderedSet } from './ordered-set.js'

const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), {
  maxLength: 4000,
  size: 'max',
})

it('behaves like a sorted list without repetitions, however it grew and shrank', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: -1, max: 3001 }), (steps, place) => {
      const set = new OrderedSet<number>((a, b) => a - b)
      const model = new Set<number>()
      for (const [isAdded, item] of steps) {
        if (isAdded) set.add(item)
        else expect(set.delete(item)).toBe(model.has(item))
        if (isAdded) model.add(item)
        else model.delete(item)
      }
      const sorted = [...model].toSorted((a, b) => a - b)
      expect([...set]).toEqual(sorted)
      expect([...set.backwards()]).toEqual(sorted.toReversed())
      expect([set.size, set.first]).toEqual([sorted.length, sorted[0]])
      const isBefore = (item: number): boolean => item < place
      expect([...set.from(isBefore)]).toEqual(sorted.filter((item) => !isBefore(item)))
      expect([...set.backwards(isBefore)]).toEqual(sorted.filter(isBefore).toReversed())
    }),
    { numRuns: 40 },
  )
})

it('splits chunks when they grow and drops them when they are empty', () => {
  const set = new OrderedSet<number>((a, b) => a - b)
  for (let i = 0; i < 5000; i++) set.add((i * 7919) % 5000)
  expect([...set]).toEqual(Array.from({ length: 5000 }, (_, i) => i))
  for (let i = 0; i < 5000; i++) expect(set.delete((i * 4999) % 5000)).toBe(true)
  expect([set.size, set.first, [...set]]).toEqual([0, undefined, []])
})
