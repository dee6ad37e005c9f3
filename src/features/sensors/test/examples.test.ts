import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { root } from '../../../../test/repository.js'

test('F7: examples/sensors/sql.mjs finds changes, and the row that the greatest value misses', async () => {
  expect(await linesOf('sql')).toEqual([
    'changes: the first value is the baseline',
    'changes: 2026-01-15',
    'orders: north, south',
    'changes: the value is the same',
    'orders: west',
  ])
})

test('F8: examples/sensors/http.mjs finds each partition once', async () => {
  expect(await linesOf('http')).toEqual(['found 2026-01-15', 'not modified', 'found 2026-01-16'])
})

test('F11: examples/sensors/webhook.mjs takes what is signed, once', async () => {
  expect(await linesOf('webhook')).toEqual(['202 accepted', '200 duplicate', '401 unsigned', '400 malformed'])
})

test('F6: examples/sensors/s3.mjs finds every key, and a new version where versions count', async () => {
  expect(await linesOf('s3')).toEqual([
    'events: nothing new: 0 examined',
    'events: data/2025-01-15/events.parquet is about 2025-01-15',
    'events: data/2025-02-30/2025-03-01.parquet is about 2025-03-01',
    'exports: exports/january.zip is about january',
    'exports: exports/january.zip is about january',
  ])
})

test('F11: examples/sensors/files.mjs is woken by a file and finds it', async () => {
  expect(await linesOf('files')).toEqual([
    'nothing new: 0 examined',
    'orders-2025-01-15.csv is about 2025-01-15',
  ])
})

test('F6, F7, F10: examples/assets/sensors.mjs makes a partition for every file and for the table', async () => {
  expect(await linesOf('../assets/sensors')).toEqual([
    'derived_data: data of 2025-01-15',
    'raw_events: events of 2025-01-15',
    'raw_events: events of 2025-01-16',
    'raw_events: events of 2025-03-01',
  ])
})

/** What an example prints; the tests run on what was built. */
async function linesOf(name: string): Promise<readonly string[]> {
  const path = join(root, 'examples', 'sensors', `${name}.mjs`)
  const { stdout } = await promisify(execFile)(process.execPath, [path])
  return stdout.trim().split('\n')
}
