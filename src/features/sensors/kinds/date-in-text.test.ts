import { expect, test } from 'vitest'
import { dateInText } from './date-in-text.js'

test.each([
  ['data/2025-01-15/events.parquet', '2025-01-15'],
  ['2025-01-15', '2025-01-15'],
  ['a/2025-02-30/b/2025-03-01.csv', '2025-03-01'],
  ['2025-13-01_2025-12-31', '2025-12-31'],
  ['2025-00-10', undefined],
  ['2025-01-00', undefined],
  ['2024-02-29', '2024-02-29'],
  ['2023-02-29', undefined],
  ['1900-02-29', undefined],
  ['2000-02-29', '2000-02-29'],
  ['2025-04-31', undefined],
  ['2025-1-5', undefined],
  ['12025-01-15', undefined],
  ['2025-01-150', undefined],
  ['v1-2025-01-15T10:00:00Z', '2025-01-15'],
  ['2025-02-30-2025-01-15', '2025-01-15'],
  ['٢٠٢٥-٠١-١٥', undefined],
  ['', undefined],
])('F6: the first real date in %j is %j', (text, date) => {
  expect(dateInText(text)).toBe(date)
})
