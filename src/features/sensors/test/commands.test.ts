import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emptyDirectory, rota, start, tooWide, type Ended, type Running } from '../../../../test/cli/rota.js'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const config = `
app: sensing
store: sqlite:rota.db
jobs:
  load: { command: [node, -e, "console.log('load ' + process.env.ROTA_PARTITION)"] }
sensors:
  new_files: { type: files, glob: '*.csv', directory: in, settle: 1ms, every: 1h, watch: false, job: load }
  broken: { type: files, glob: '*.csv', directory: nowhere, every: 1h, pauseAfter: 1, job: load }
  exports: { type: webhook, secret: { env: WEBHOOK_SECRET }, partition: day, job: load }
`
const directory = emptyDirectory()
const env = { WEBHOOK_SECRET: secret }
let up: Running

beforeAll(async () => {
  writeFileSync(join(directory, 'rota.config.yaml'), config)
  mkdirSync(join(directory, 'in'))
  for (const day of ['2026-01-14', '2026-01-15'])
    writeFileSync(join(directory, 'in', `sales-${day}.csv`), 'x')
})

afterAll(async () => {
  up.child.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
})

describe('rota sensor', () => {
  it('F4: previews a sensor before anything is stored', async () => {
    const { code, stdout } = await sensor('preview', 'new_files', '--json')
    expect(code).toBe(0)
    const { kind, observations, before } = JSON.parse(stdout) as Preview
    expect([kind, before]).toEqual(['trigger', null])
    expect(observations.map(({ partition, isNew }) => [partition, isNew])).toEqual([
      ['2026-01-14', true],
      ['2026-01-15', true],
    ])
    expect((await sensor('list')).code).toBe(3)
    expect((await sensor('preview', 'broken')).code).toBe(1)
  })

  it('F11: up reports an address that cannot be bound before it prints or writes anything else', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const refused = await rota(['up', '--webhooks', String(port)], { cwd: directory, env })
    taken.close()
    const stderr = `error: --webhooks: cannot listen at 127.0.0.1:${port}: the address is in use [LISTEN_FAILED]\n`
    expect(refused).toEqual({ code: 74, stdout: '', stderr })
    expect((await sensor('list')).code).toBe(3)
  })

  it('F9, F11: up prints what sensors find, their failures, and the address for deliveries', async () => {
    up = start(['up', '--webhooks', '0'], { cwd: directory, env })
    await up.said(/new_files +found 2/)
    await up.said(/broken +paused after 1 failure in a row: .*; `rota sensor resume broken`/)
    const [, port = ''] =
      /http:\/\/127\.0\.0\.1:(\d+)\/webhooks\/<sensor>/.exec(await up.said('webhooks')) ?? []
    expect(await deliver(Number(port), 'msg_1')).toBe(202)
    expect(await deliver(Number(port), 'msg_1')).toBe(200)
    await up.said('load 2026-01-16')
  })

  it('F9: lists and shows sensors and their history', async () => {
    const list = await sensor('list')
    expect(list.stdout).toMatch(/broken +files +paused/)
    expect(list.stdout).toMatch(/exports +webhook +ok +received (now|.* ago) +by webhook +1 +got 1/)
    const heard = (await sensor('show', 'exports')).stdout
    expect(heard).toMatch(/source +webhook: `rota up --webhooks` accepts \/webhooks\/exports\n/)
    expect(heard).toMatch(/last arrival +\d{4}-/)
    expect(heard).not.toMatch(/poll/)
    const { stdout: listed } = await rota(['list'], { cwd: directory, env })
    expect(listed).toContain('receives webhooks')
    expect(await up.said('rota is up')).not.toContain('next: exports')
    expect(list.stdout).toMatch(/new_files +files +ok .* 2 +found 2/)
    const sensors = JSON.parse((await sensor('list', '--json')).stdout) as {
      name: string
      condition: string
    }[]
    expect(sensors.map(({ name, condition }) => [name, condition])).toEqual([
      ['broken', 'paused'],
      ['exports', 'ok'],
      ['new_files', 'ok'],
    ])
    const show = await sensor('show', 'new_files')
    expect(show.stdout).toMatch(/once per +key, for ever/)
    const narrow = await rota(['sensor', 'show', 'new_files'], {
      cwd: directory,
      env: { ...env, COLUMNS: '40' },
    })
    expect(narrow.stdout).toMatch(/state +\{.{159}…\s+\(\d+ characters; --json\s+prints all\)\n/)
    const history = await sensor('history', 'broken')
    expect(history.stdout).toMatch(/error +1 .*there is no directory/)
    for (const { code, stdout } of [list, history]) expect([code, tooWide(stdout)]).toEqual([0, []])
  })

  it('F5: resets with and without the seen keys, and resumes', async () => {
    const unsaid = await sensor('reset', 'new_files')
    expect(unsaid).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--keep-keys, --forget-keys: one of the two is required') as unknown,
    })
    expect((await sensor('reset', 'new_files', '--keep-keys')).stdout).toBe('reset sensor new_files\n')
    expect((await sensor('reset', 'new_files', '--forget-keys')).stdout).toBe(
      'reset sensor new_files; 2 keys forgotten\n',
    )
    const foreign = await sensor('reset', 'new_files', '--keep-keys', '--state', '{"line":0}')
    expect(foreign.code).toBe(2)
    expect(foreign.stderr).toMatch(
      /error: 2 faults \[DEFINITION_INVALID\]\n {2}--state: it cannot have line \(allowed: a map of source, /,
    )
    const own = JSON.parse((await sensor('show', 'new_files', '--json')).stdout) as { state: unknown }
    const kept = await sensor('reset', 'new_files', '--keep-keys', '--state', JSON.stringify(own.state))
    expect(kept).toMatchObject({ code: 0, stderr: '' })
    expect((await sensor('preview', 'new_files', '--state', '7')).stderr).toContain('state: 7 is not a map')
    expect((await sensor('resume', 'broken')).stdout).toBe('resumed sensor broken\n')
    expect((await sensor('pause', 'new_files', '--reason', 'bucket moves')).stdout).toBe(
      'paused sensor new_files\n',
    )
    expect((await sensor('show', 'new_files')).stdout).toMatch(/paused +by tester: bucket moves/)
  })

  it('refuses unknown names', async () => {
    const [stray, action, missing, tooMany, unknown] = await Promise.all([
      sensor('list', '--keep-keys', '--limit', '3'),
      sensor('peek'),
      sensor('show'),
      sensor('list', 'new_files'),
      sensor('show', 'nobody'),
    ])
    expect(action).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('list, show, history') as unknown,
    })
    expect(stray.stderr).toContain(
      '  `rota sensor list` has no option `--keep-keys` (allowed: with reset)\n' +
        '  `rota sensor list` has no option `--limit` (allowed: with history, preview)\n',
    )
    expect([stray.code, stray.stdout]).toEqual([2, ''])
    expect(missing.code).toBe(2)
    expect(tooMany.code).toBe(2)
    expect(unknown.code).not.toBe(0)
    expect(unknown.stderr).toContain('no sensor is named nobody')
  })
})

interface Preview {
  readonly kind: string
  readonly before: unknown
  readonly observations: readonly { readonly partition: string; readonly isNew: boolean }[]
}

function sensor(...words: readonly string[]): Promise<Ended> {
  return rota(['sensor', ...words], { cwd: directory, env })
}

async function deliver(port: number, id: string): Promise<number> {
  const body = '{"day":"2026-01-16"}'
  const time = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(secret.slice(6), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
  }
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks/exports`, { method: 'POST', headers, body })
  return answer.status
}
