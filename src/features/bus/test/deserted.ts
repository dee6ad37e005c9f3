import type { RotaOptions } from '../../../app/rota-options.js'
import { jobDefaults } from '../../../kernel/job/job.js'
import { appAt } from '../../../../test/fixtures/app-stage.js'
import type { BusMessage } from '../messages.js'

/** A minute before nine: when these apps start. */
export const t0 = Date.UTC(2026, 0, 5, 8, 59)
/** When their jobs are due. */
export const nine = Date.UTC(2026, 0, 5, 9)

/** An app with a job that no process has a handler for, because the process that defined it has ended. */
export async function deserted(options: RotaOptions = {}) {
  const { app, clock, pass } = appAt(t0, options)
  const payload = { command: 'check_status', user_id: 'user1', metadata: { room: 'a' } }
  // A listener that is added before the start gets every message.
  app.bus.listen(() => undefined)
  await app.start()
  const store = await app.store()
  const handler = { kind: 'function' } as const
  const jobs = [{ ...jobDefaults, name: 'check', handler }]
  await store.defineJobs({ source: 'code:gone', jobs, queues: [], now: t0 })
  await app.triggers.add({ job_123: { cron: '0 9 * * *', job: 'check', payload } })
  return { app, clock, store, payload, pass }
}

/** The runs that messages offer. */
export function heard(messages: BusMessage[]) {
  return messages.flatMap((message) => (message.name === 'run:offered' ? [message.event] : []))
}
