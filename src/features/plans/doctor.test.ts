import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Finding } from '../../app/doctor/doctor.js'
import { rota, type Rota } from '../../app/rota.js'
import { placeOf } from '../../kernel/definition/faults.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { formatInstant } from '../../time/instant.js'
import { readPlan, type Plan } from './definition.js'
import { schedulePass } from './pass/schedule-pass.js'

const t0 = Date.UTC(2026, 0, 5)
const minute = 60_000

describe.each(['memory:', 'sqlite:rota.db', 'files:queue'])(
  'rota doctor on a queue for cron (%s)',
  (store) => {
    const pass = async (app: Rota, clock: FakeClock): Promise<void> => {
      const entries = Array.from({ length: 150 }, (_, index) => ({
        publish_at: formatInstant(t0 + (index + 1) * minute),
        pipeline_path: 'web.yml',
      }))
      const plan = readPlan({ schema_version: 'v1', entries }, placeOf()) as Plan
      const request = { plan, source: 'plan:plan.yaml', now: clock.now(), lookBackMs: 0, isDry: false }
      await schedulePass(await app.store(), { ...request, windowMs: 200 * minute })
    }

    it('does not warn about runs that were enqueued in advance, and warns when they are late', async () => {
      const clock = new FakeClock(t0)
      const directory = mkdtempSync(join(tmpdir(), 'rota-doctor-'))
      const app = rota({ store, directory, clock, durability: 'normal' })
      onTestFinished(() => app.close())
      await pass(app, clock)
      const isBad = ({ level }: Finding): boolean => level !== 'ok'
      expect((await app.doctor()).filter(isBad)).toEqual([])
      clock.step(3 * minute)
      expect((await app.doctor()).filter(isBad)).toMatchObject([{ check: 'jobs', level: 'warn' }])
    })
  },
)
