import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runHere } from '../../../../test/cli/in-process.js'
import { emptyDirectory, rota, start, type Ended } from '../../../../test/cli/rota.js'

let cwd: string

/** Runs a command in the directory of the store. */
const ask = (...words: string[]): Promise<Ended> => runHere(['round', ...words], { directory: cwd })

async function json(...words: string[]): Promise<unknown> {
  const { stdout, stderr, code } = await ask(...words, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as unknown
}

// An engine runs until it is killed: the first two services succeed, the third fails, and the fourth does not end.
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
  it('R12: status shows the state of a round', async () => {
    const status = (await json('status', 'r')) as Record<string, unknown>
    expect(Object.keys(status)).toEqual([
      'name',
      'intervalMs',
      'services',
      'checkedAt',
      'resumed',
      'currentService',
      'remainingServices',
      'completedCount',
      'results',
      'skipped',
      'nextCheckAt',
    ])
    expect(status).toMatchObject({
      name: 'r',
      intervalMs: 3_600_000,
      currentService: 's3',
      remainingServices: ['spare'],
      completedCount: 3,
      results: [
        { service: 'daily', status: 'ok', info: 'success' },
        { service: 's1', status: 'ok', info: 'success' },
        { service: 's2', status: 'error' },
      ],
      skipped: [],
    })
    const checkedAt = Date.parse(String(status['checkedAt']))
    expect(Date.parse(String(status['nextCheckAt']))).toBe(checkedAt + 3_600_000)
    const { stdout } = await ask('status', 'r')
    expect(stdout).toMatch(/completed +3 of 5/)
    expect(stdout).toMatch(/s2 +error/)
    expect(stdout).toMatch(/s3 +running/)
    expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true)
  })

  it('R13: timing shows when services last ran, all or one, in Unix seconds', async () => {
    const status = (await json('status', 'r')) as { checkedAt: string }
    const checked = Math.floor(Date.parse(status.checkedAt) / 1000)
    expect(await json('timing', 's1')).toEqual({
      service: 's1',
      lastRunTimestamp: checked,
      intervalSeconds: 3600,
      nextDueTimestamp: checked + 3600,
    })
    const all = (await json('timing')) as { service: string; lastRunTimestamp: number | null }[]
    expect(all.map((one) => [one.service, one.lastRunTimestamp])).toEqual([
      ['daily', checked],
      ['s1', checked],
      ['s2', null],
      ['s3', null],
      ['spare', null],
    ])
    expect((await ask('timing')).stdout).toMatch(/s2 +1h +never +at the next check/)
  })

  it('R13: state shows the saved state of one round or of all', async () => {
    const state = (await json('state', 'r')) as Record<string, unknown>
    expect(Object.keys(state)).toEqual(['checkedAt', 'servicesQueue', 'currentService', 'results'])
    expect(state).toMatchObject({ servicesQueue: ['spare'], currentService: 's3' })
    expect(await json('state')).toEqual([{ round: 'r', ...state }])
    expect((await ask('state')).stdout).toMatch(/r .*s3 +spare/)
  })

  it('R5: timing set changes the interval of a service', async () => {
    expect(await json('timing', 'set', 'daily', '--every', '24h')).toMatchObject({
      service: 'daily',
      intervalSeconds: 86_400,
    })
    expect((await ask('timing', 'set', 'daily', '--every', '24h')).stdout).toBe('daily runs every 24h\n')
    expect(await json('timing', 'daily')).toMatchObject({ intervalSeconds: 86_400 })
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

  it('has an SLA about its checks, until another one replaces it', async () => {
    const promised = async (): Promise<unknown> => {
      const { stdout } = await rota(['show', 'sworn', '--json'], { cwd })
      return (JSON.parse(stdout) as { trigger: { sla?: unknown } }).trigger.sla
    }
    const byTime = ['--finished-by', '07:30', '--sla-zone', 'Asia/Tokyo']
    const all = ['--started-within', '1m', '--finished-within', '20m', '--not-older-than', '3h', ...byTime]
    await json('start', 'sworn', '--every', '1h', '-s', 'spare', ...all)
    expect(await promised()).toEqual({
      startedWithinMs: 60_000,
      finishedWithinMs: 1_200_000,
      finishedBy: '07:30',
      timezone: 'Asia/Tokyo',
      notOlderThanMs: 10_800_000,
    })
    await json('start', 'sworn', '--finished-within', '30m')
    expect(await promised()).toEqual({ finishedWithinMs: 1_800_000 })
    await json('stop', 'sworn')
    await json('start', 'sworn')
    expect(await promised()).toEqual({ finishedWithinMs: 1_800_000 })
    const { code, stderr } = await ask('start', 'sworn', '--not-older-than', '1h')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--not-older-than: 1h contradicts `every`')])
    await json('stop', 'sworn')
  })

  it('refuses impossible requests with a reason', async () => {
    const refusals: [string[], number, string][] = [
      [['begin'], 2, 'unknown subcommand `begin`'],
      [['strat'], 2, 'unknown subcommand `strat` (did you mean `start`?)'],
      [
        ['status', 'r', '--every', '1h'],
        2,
        '`rota round status` has no option `--every` (allowed: with start)',
      ],
      [['status'], 2, 'missing argument <name>'],
      [['status', 'x'], 2, 'no round is named x; `rota round list --all` lists them ['],
      [['start', 'x'], 2, 'no round is named x; `rota round list --all` lists them ['],
      [['start', 'mien'], 2, 'no round is named mien; did you mean mine?'],
      [['timing', 'set', 'daily'], 2, 'missing option `--every`'],
      [['start', 'y', '--every', '1h', '-s', 'spare', '-s', 'no', '-s', 'nope'], 2, 'not jobs: no, nope'],
      [['start', 'y', '--every', '2h', '-s', 'spare'], 2, 'spare every 2h in y, every 1h in'],
      [['stop', 'r'], 2, 'round r is defined by config:test'],
      [['list', 'r'], 2, '`r`: unexpected argument; `rota round list` takes no arguments'],
    ]
    for (const [words, code, told] of refusals) {
      const ended = await ask(...words)
      expect([words, ended.code, ended.stderr]).toEqual([words, code, expect.stringContaining(told)])
    }
  }, 60_000)

  it('R4: why shows the result of a check', async () => {
    const { stdout } = await rota(['why', 'r', '-1h'], { cwd })
    expect(stdout).toContain('the round was checked (due daily, s1, s2, s3, spare)')
    expect(stdout).toMatch(/in addition: run \w+ of s1 made by round at /)
  })
})
