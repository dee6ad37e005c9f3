import { expect, it } from 'vitest'
import type { RunContext } from '../../../src/engine/worker/perform.js'
import { toTask } from '../../../src/engine/worker/pool.js'
import { appAt } from '../../fixtures/app-stage.js'

const t0 = Date.UTC(2026, 0, 5, 8, 59)
const nine = Date.UTC(2026, 0, 5, 9)

it('the pool gives every run a unique task id, even if many are due in one millisecond', async () => {
  const { app, pass } = appAt(t0)
  const ids: [string, string][] = []
  const tell = (run: RunContext): void => void ids.push([run.trigger ?? run.job, toTask(run).id])
  for (const name of ['plain', 's1', 's2', 'found', 'nightly']) app.job(name, tell)
  app.rounds.define('checks', { every: '1h', services: ['s1', 's2'] })
  const observations = [
    { key: 'a', partition: 'p' },
    { key: 'b', partition: 'p' },
  ] as const
  const sensor = {
    init: async () => ({ kind: 'ok', state: null }) as const,
    poll: async () => ({ kind: 'trigger', observations, state: null }) as const,
  }
  app.sensors.define('files', { sensor, job: 'found' })
  // The first check and the first poll are immediate, so some runs end before the start returns.
  const results = app.pool.results()
  await app.start()
  await app.commands.add({ id: 'job_1', type: 'recurring', schedule: '0 9 * * *', command: 'nightly' })
  await pass(nine - t0)
  await app.commands.runNow('job_1')
  await app.commands.runNow('job_1')
  await app.enqueueMany('plain', [1, 2, 3])
  await pass(1000)
  const told = ids.map(([, id]) => id)
  expect(told).toHaveLength(10)
  expect(new Set(told).size).toBe(10)
  const runs = await app.runs.list()
  const read: string[] = []
  for await (const { taskId } of results) if (read.push(taskId) === 10) break
  expect(told.toSorted()).toEqual(read.toSorted())
  // The run of a due time keeps the format that other programs use.
  expect(told.filter((id) => /_\d{13}$/.test(id))).toEqual([`cron_job_1_${nine}`])
  expect(told.toSorted()).toEqual(
    runs
      .map(({ id, trigger, job, origin, dueAt }) =>
        origin === 'trigger' ? `cron_${trigger}_${dueAt.getTime()}` : `cron_${trigger ?? job}_${id}`,
      )
      .toSorted(),
  )
  const labels = runs.flatMap((run) => (run.trigger === 'job_1' ? (run.labels?.['task_id'] ?? '') : []))
  expect(labels.toSorted()).toEqual(ids.flatMap(([name, id]) => (name === 'job_1' ? [id] : [])).toSorted())
})
