import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Rota } from '../../../app/rota.js'
import { emptyDirectory, rota } from '../../../../test/cli/rota.js'
import { appAt } from '../../../../test/fixtures/app-stage.js'

const nothing = null as never

it.each<[string, (app: Rota) => unknown]>([
  ['commands.add', (app) => app.commands.add(nothing)],
  ['commands.remove', (app) => app.commands.remove(nothing)],
])('what is no definition at all is refused with a code by %s', async (_, act) => {
  const { app } = appAt(Date.UTC(2026, 0, 5))
  app.job('work', () => undefined)
  const acted = async (): Promise<unknown> => await act(app)
  await expect(acted()).rejects.toMatchObject({ name: 'RotaError', code: expect.any(String) as unknown })
})

it('refuses a schedule whose last year is over', async () => {
  const { app } = appAt(Date.UTC(2026, 0, 5))
  app.job('report', () => undefined)
  await app.start()
  const job = { id: 'job_1', type: 'recurring', schedule: '0 0 9 1 6 ? 2025', command: 'report' } as const
  await expect(app.commands.add(job)).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
    faults: [{ path: 'triggers.job_1.cron', message: 'it has no instant after 2026-01-05T00:00:00Z' }],
  })
})

it('a refused job creates no store', async () => {
  const cwd = emptyDirectory()
  const line = ['job', 'add', '--store', 'files:queue', '--schedule', 'often', '--command', 'c']
  expect(await rota(line, { cwd })).toMatchObject({ code: 2, stdout: '' })
  expect(readdirSync(cwd)).toEqual([])
})
