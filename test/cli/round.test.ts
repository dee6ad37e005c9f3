import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { emptyDirectory, rota, start, type Ended } from './rota.js'

let cwd: string

/** Whatever is asked, in the directory of the store. */
const ask = (...words: string[]): Promise<Ended> => rota(['round', ...words], { cwd })

async function json(...words: string[]): Promise<unknown> {
  const { stdout, stderr, code } = await ask(...words, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as unknown
}

// An engine runs until it is killed: the first two services end well, the third badly, and the fourth not at all.
beforeAll(async () => {
  cwd = emptyDirectory()
  const job = (code: string): { command: string[] } => ({ command: ['node', '-e', code] })
  const wait = "console.log('s3 is at it'); setInterval(() => undefined, 1000)"
  const jobs = { s1: job(''), s2: job('process.exitCode = 1'), s3: job(wait), daily: job(''), spare: job('') }
  const rounds = { r: { every: '1h', services: ['daily', 's1', 's2', 's3', 'spare'] } }
  writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify({ app: 'test', jobs, rounds }))
  const engine = start(['up'], { cwd })
  await engine.said('s3 is at it')
  engine.child.kill('SIGKILL')
  await engine.ended
}, 60_000)

describe('rota round', () => {
  it('R12: status tells how a round stands, in the words of the files', async () => {
    const status = (await json('status', 'r')) as Record<string, unknown>
    expect(Object.keys(status)).toEqual([
      'name',
      'interval_ms',
      'services',
      'checked_at',
      'resumed',
      'current_service',
      'remaining_services',
      'completed_count',
      'results',
      'skipped',
      'next_check_at',
    ])
    expect(status).toMatchObject({
      name: 'r',
      interval_ms: 3_600_000,
      current_service: 's3',
      remaining_services: ['spare'],
      completed_count: 3,
      results: [
        { service: 'daily', status: 'ok', info: 'success' },
        { service: 's1', status: 'ok', info: 'success' },
        { service: 's2', status: 'error' },
      ],
      skipped: [],
    })
    const checkedAt = Date.parse(String(status['checked_at']))
    expect(Date.parse(String(status['next_check_at']))).toBe(checkedAt + 3_600_000)
    const { stdout } = await ask('status', 'r')
    expect(stdout).toMatch(/completed +3 of 5/)
    expect(stdout).toMatch(/s2 +error/)
    expect(stdout).toMatch(/s3 +running/)
    expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true)
  })

  it('R13: timing tells when services ran last, all or one, in Unix seconds', async () => {
    const status = (await json('status', 'r')) as { checked_at: string }
    const checked = Math.floor(Date.parse(status.checked_at) / 1000)
    expect(await json('timing', 's1')).toEqual({
      service: 's1',
      last_run_timestamp: checked,
      interval_seconds: 3600,
      next_due_timestamp: checked + 3600,
    })
    const all = (await json('timing')) as { service: string; last_run_timestamp: number | null }[]
    expect(all.map((one) => [one.service, one.last_run_timestamp])).toEqual([
      ['daily', checked],
      ['s1', checked],
      ['s2', null],
      ['s3', null],
      ['spare', null],
    ])
    expect((await ask('timing')).stdout).toMatch(/s2 +1h +never +at the next check/)
  })

  it('R13: state shows what is saved, of one round or of all', async () => {
    const state = (await json('state', 'r')) as Record<string, unknown>
    expect(Object.keys(state)).toEqual(['checked_at', 'services_queue', 'current_service', 'results'])
    expect(state).toMatchObject({ services_queue: ['spare'], current_service: 's3' })
    expect(await json('state')).toEqual([{ round: 'r', ...state }])
    expect((await ask('state')).stdout).toMatch(/r .*s3 +spare/)
  })

  it('R5: timing set changes how often a service is to run', async () => {
    expect(await json('timing', 'set', 'daily', '--every', '24h')).toMatchObject({
      service: 'daily',
      interval_seconds: 86_400,
    })
    expect((await ask('timing', 'set', 'daily', '--every', '24h')).stdout).toBe('daily runs every 24h\n')
    expect(await json('timing', 'daily')).toMatchObject({ interval_seconds: 86_400 })
  })

  it('R1: starts, lists, stops and starts a round again by its name', async () => {
    const started = await ask('start', 'mine', '--every', '1h', '-s', 'spare', '--service', 'daily=1h')
    expect(started.stdout).toContain('started round mine')
    const list = (await json('list')) as { name: string; services: string[] }[]
    expect(list.map(({ name, services }) => [name, services.length])).toEqual([
      ['mine', 2],
      ['r', 5],
    ])
    expect((await ask('stop', 'mine')).stdout).toBe('stopped round mine\n')
    expect((await ask('list')).stdout).not.toContain('mine')
    expect((await ask('list', '--all')).stdout).toMatch(/mine .* stopped/)
    expect(await json('start', 'mine')).toMatchObject({ name: 'mine', services: ['spare', 'daily'] })
  })

  it('refuses what it cannot do, and says why', async () => {
    const refusals: [string[], number, string][] = [
      [['begin'], 2, 'unknown value "begin"'],
      [['strat'], 2, '<action>: unknown value "strat" (did you mean `start`?)'],
      [
        ['status', 'r', '--every', '1h'],
        2,
        '--every: it does not go with status (allowed: with start, timing set)',
      ],
      [['status'], 2, '<name>: it is missing'],
      [['status', 'x'], 2, 'no round is named x; `rota round list --all` lists them ['],
      [['start', 'x'], 2, 'no round is named x; `rota round list --all` lists them ['],
      [['start', 'mien'], 2, 'no round is named mien; did you mean mine?'],
      [['timing', 'set', 'daily'], 2, '--every: it is missing'],
      [['start', 'y', '--every', '1h', '-s', 'spare', '-s', 'no', '-s', 'nope'], 2, 'no jobs: no, nope'],
      [['start', 'y', '--every', '2h', '-s', 'spare'], 2, 'spare every 2h in y, every 1h in'],
      [['stop', 'r'], 2, 'round r is defined by config:test'],
      [['list', 'r'], 2, 'list takes no name'],
    ]
    for (const [words, code, told] of refusals) {
      const ended = await ask(...words)
      expect([words, ended.code, ended.stderr]).toEqual([words, code, expect.stringContaining(told)])
    }
  }, 60_000)

  it('R4: why tells what a check found', async () => {
    const { stdout } = await rota(['why', 'r', '-1h'], { cwd })
    expect(stdout).toContain('the round was checked (due daily, s1, s2, s3, spare)')
    expect(stdout).toMatch(/beside it: run \w+ of s1 made by round at /)
  })
})
