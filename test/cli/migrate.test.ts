import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { emptyDirectory, rota, start } from './rota.js'

it('rota migrate moves a store, says what it moved, and leaves the old one frozen', async () => {
  const directory = emptyDirectory()
  const [from, to] = [`sqlite:${join(directory, 'old.db')}`, `files:${join(directory, 'new')}`]
  const added = await rota(['add', 'hello', '--every', '1h', '--store', from, '--', 'echo', 'hello'])
  expect(added.code).toBe(0)
  const dry = await rota(['migrate', '--from', from, '--to', to, '--dry-run', '--json'])
  expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, counts: { job: 1, trigger: 1 } })
  const before = await rota(['list', '--store', to])
  expect(before.code).toBe(3)
  const moved = await rota(['migrate', '--from', from, '--to', to])
  expect(moved).toMatchObject({ code: 0, stderr: '' })
  expect(moved.stdout).toMatch(/triggers +1\n/)
  expect((await rota(['list', '--store', to])).stdout).toMatch(/hello\s.*\bon\b/)
  expect((await rota(['list', '--store', from])).stdout).toMatch(/hello\s.*frozen/)
  const again = await rota(['migrate', '--from', from, '--to', to])
  expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('[STORE_NOT_EMPTY]') as unknown })
})

it('rota migrate of a store that is in use creates nothing', async () => {
  const directory = emptyDirectory()
  const from = `sqlite:${join(directory, 'old.db')}`
  const up = start(['up', '--store', from], {})
  await up.said('is up as process')
  const refused = await rota(['migrate', '--from', from, '--to', 'files:new'], { cwd: directory })
  expect(refused).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('is in use by process') as unknown,
  })
  expect(existsSync(join(directory, 'new'))).toBe(false)
  up.child.kill('SIGINT')
  await up.ended
})

it('rota migrate needs both stores, and an existing source', async () => {
  const none = await rota(['migrate', '--from', 'sqlite:x.db'])
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('--to') as unknown })
  const directory = emptyDirectory()
  const missing = await rota(['migrate', '--from', 'files:none', '--to', 'sqlite:new.db'], { cwd: directory })
  expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('[STORE_NOT_FOUND]') as unknown })
})
