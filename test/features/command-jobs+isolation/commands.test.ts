import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rota } from '../../../src/app/rota.js'

const module = fileURLToPath(
  new URL('../../../src/features/isolation/test/isolated-handlers.mjs', import.meta.url),
)

describe.each(['thread', 'process', undefined] as const)(
  'a module that takes commands (isolate: %s)',
  (isolate) => {
    it('gets the command, its user and its task', async () => {
      const app = rota({ store: 'memory:' })
      app.commands.handle({ module, export: 'takesCommand' }, { isolate })
      await app.start()
      onTestFinished(() => app.stop({ grace: 0 }))
      const job = {
        id: 'job_7',
        type: 'recurring',
        schedule: '0 0 1 1 *',
        command: 'remind',
        userId: 'user1',
      } as const
      await app.commands.add({ ...job, metadata: { chat: '42' } })
      const run = await app.runs.wait((await app.commands.runNow('job_7')).id)
      expect(run).toMatchObject({
        state: 'done',
        result: {
          command: 'remind',
          userId: 'user1',
          metadata: { chat: '42' },
          attempt: 1,
          hasSignal: true,
          task: { id: `cron_job_7_${run.id}`, payload: { command: 'remind' } },
        },
      })
      expect((run.result as { pid: number }).pid === process.pid).toBe(isolate !== 'process')
      expect(await app.runs.logs(run.id)).toMatchObject([{ level: 'info', text: 'took it' }])
    })
  },
)
