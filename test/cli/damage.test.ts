import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { emptyDirectory, rota, start } from './rota.js'

it('G9: after a kill and a lost log, `up` and `enqueue` refuse and `doctor` says what to do', async () => {
  const cwd = emptyDirectory()
  const path = join(cwd, 'rota.db')
  const options = ['--store', `sqlite:${path}`]
  const add = ['add', 'soon', '--every', '1s', ...options, '--', 'true']
  expect(await rota(add, { cwd })).toMatchObject({ code: 0 })
  const up = start(['up', ...options], { cwd })
  await up.said('done')
  up.child.kill('SIGKILL')
  await up.ended
  expect(existsSync(`${path}-wal`)).toBe(true)
  const whole = join(cwd, 'whole')
  for (const end of ['', '-wal']) cpSync(`${path}${end}`, `${whole}${end}`)
  rmSync(`${path}-wal`)
  const doctor = await rota(['doctor', ...options], { cwd })
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('--accept-store') as unknown })
  for (const command of [['up'], ['enqueue', 'soon'], ['freeze']]) {
    const refused = await rota([...command, ...options], { cwd })
    expect([command, refused.code, refused.stderr]).toEqual([
      command,
      3,
      expect.stringContaining('STORE_WENT_BACK'),
    ])
  }
  expect(await rota(['runs', ...options], { cwd })).toMatchObject({ code: 0 })
  for (const end of ['', '-wal']) cpSync(`${whole}${end}`, `${path}${end}`)
  rmSync(`${path}-shm`, { force: true })
  expect(await rota(['doctor', ...options], { cwd })).toMatchObject({ code: 0 })
  expect(await rota(['freeze', ...options], { cwd })).toMatchObject({ code: 0 })
})
