import { expect, it } from 'vitest'
import type { Rota } from '../../../app/rota.js'
import { appAt } from '../../../../test/fixtures/app-stage.js'

const nothing = null as never

it.each<[string, (app: Rota) => unknown]>([
  ['assets.schedule', (app) => app.assets.schedule('t', { every: '1h' })],
  ['assets.define', (app) => app.assets.define('a', nothing)],
])('what is no definition at all is refused with a code by %s', async (_, act) => {
  const { app } = appAt(Date.UTC(2026, 0, 5))
  app.job('work', () => undefined)
  const acted = async (): Promise<unknown> => await act(app)
  await expect(acted()).rejects.toMatchObject({ name: 'RotaError', code: expect.any(String) as unknown })
})
