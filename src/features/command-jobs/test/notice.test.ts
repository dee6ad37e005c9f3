import { expect, it } from 'vitest'
import { told } from '../../../../test/fixtures/told-app.js'

it('N10: every operation on command jobs gives one structured line: added, removed, cleaned up', async () => {
  const { app, during } = await told()
  const job = {
    id: 'job_1',
    type: 'recurring',
    schedule: '0 9 * * *',
    command: 'works',
    userId: 'u',
  } as const
  expect(await during(() => app.commands.add(job))).toEqual([
    expect.objectContaining({ operation: 'add job', target: 'job_1', outcome: 'added', job: 'job_1' }),
  ])
  expect(await during(() => app.commands.remove('job_1'))).toEqual([
    expect.objectContaining({ operation: 'remove job', target: 'job_1', outcome: 'removed' }),
  ])
  expect(await during(() => app.commands.remove('job_2'))).toEqual([
    expect.objectContaining({ operation: 'remove job', outcome: 'failed', code: 'JOB_UNKNOWN' }),
  ])
  for (const run of [
    () => app.commands.runNow('job_1'),
    () => app.commands.runNow('job_2'),
    () => app.jobs.runNow('job_3'),
  ]) {
    expect(await during(run)).toEqual([
      expect.objectContaining({ level: 'warn', operation: 'run', outcome: 'failed', code: 'JOB_UNKNOWN' }),
    ])
  }
  expect(await during(() => app.commands.cleanup())).toEqual([
    expect.objectContaining({ operation: 'clean up jobs', outcome: 'removed', count: 0 }),
  ])
})
