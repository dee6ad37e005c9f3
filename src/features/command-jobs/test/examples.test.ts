import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rota } from '../../../app/rota.js'
import { runExample } from '../../../../test/fixtures/run-example.js'
import { root } from '../../../../test/repository.js'

test('examples/command-jobs/bot.mjs adds, runs, cleans up and removes command jobs', async () => {
  const { code, output } = await runExample('examples/command-jobs/bot.mjs')
  const told = output
    .trim()
    .replace(/job_[0-9a-f]{32}/g, 'job_…')
    .split('\n')
  expect(told.filter((line) => !line.includes(': done'))).toEqual([
    'recurring, scheduled, next at 09:00 UTC',
    'DEFINITION_CONFLICT',
    expect.stringContaining('hour 25 is not within 0-23, at position 2'),
    'remind for user1, chat 42 (cron_reminder_…)',
    'cleaned up: reminder',
    'left: check_status',
  ])
  expect(told).toEqual(expect.arrayContaining(['job_…: done', 'reminder: done']))
  expect(code).toBe(0)
})

test('examples/command-jobs/jobs.jsonl is imported and exported byte for byte', async () => {
  const path = join(root, 'examples/command-jobs/jobs.jsonl')
  const app = rota({ store: 'memory:' })
  const lines = await app.commands.import(path)
  expect(lines.map(({ became }) => became)).toEqual(['added', 'added', 'added', 'added'])
  const sorted = (text: string): string[] => text.split('\n').toSorted()
  expect(sorted(await app.commands.export())).toEqual(sorted(readFileSync(path, 'utf8')))
  await app.close()
})
