import { expect, test } from 'vitest'
import { runExample } from '../../../../test/fixtures/run-example.js'

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

test('F11: examples/sensors/webhook.mjs accepts each signed delivery once', async () => {
  expect(await linesOf('webhook')).toEqual(['202 accepted', '200 duplicate', '401 unsigned', '400 malformed'])
})

test('F6: examples/sensors/s3.mjs finds every key, and a new version with `version`', async () => {
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

test('F4, F5, F11: examples/sensors/app.mjs finds each order once, polled or delivered', async () => {
  const { code, output } = await runExample('examples/sensors/app.mjs')
  expect(output.trim().split('\n')).toEqual([
    'order-1 is about 2026-01-05',
    'order-2 is about 2026-01-06',
    'duplicate',
    'order-3 is about 2026-01-07',
    'accepted',
    'preview: order-2, new: false',
    'preview: order-1, new: false',
    'new_orders is ok and has found 3',
  ])
  expect(code).toBe(0)
})

/** The output of an example; it runs on the build. */
async function linesOf(name: string): Promise<readonly string[]> {
  const { code, stdout } = await runExample(`examples/sensors/${name}.mjs`)
  expect(code).toBe(0)
  return stdout.trim().split('\n')
}
