import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hour, ten, Theatre } from './theatre.js'

/** A program with a round of these services, on a store. */
function program(store: string, services: readonly string[]): Theatre {
  const stage = new Theatre(store)
  stage.services('a', 'b')
  stage.app.rounds.define('r', { every: '1h', services })
  return stage
}

it('a diff lists nothing for an unchanged round', async () => {
  const store = `sqlite:${join(mkdtempSync(join(tmpdir(), 'rota-diff-')), 'rota.db')}`
  const first = program(store, ['a'])
  await first.app.start()
  await first.pass(hour)
  const { triggers, unchanged, load } = await program(store, ['a']).app.definitions.diff()
  expect([triggers, unchanged]).toEqual([[], 1])
  expect(load.after).toEqual(load.before)
})

it('a diff lists the first check of a changed round', async () => {
  const store = `sqlite:${join(mkdtempSync(join(tmpdir(), 'rota-diff-')), 'rota.db')}`
  const first = program(store, ['a'])
  await first.app.start()
  const { triggers } = await program(store, ['a', 'b']).app.definitions.diff()
  expect(triggers).toMatchObject([
    {
      name: 'r',
      kind: 'changed',
      fields: ['round'],
      appear: [{ at: new Date(ten + 1) }],
      vanish: [],
      moved: [],
    },
  ])
})
