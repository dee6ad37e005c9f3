import { chmodSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/framework/print/display-width.js'
import { emptyDirectory, rota, start, type Running } from './rota.js'
import { openShop, type Shop } from './shop.js'

let shop: Shop
const running = new Set<Running>()

beforeAll(async () => {
  shop = await openShop()
})

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
})

/** Starts a command that does not outlive its test. */
function started(...parameters: Parameters<typeof start>): Running {
  const one = start(...parameters)
  running.add(one)
  return one
}

/** A directory with a config in YAML. */
function project(yaml: string): string {
  const directory = emptyDirectory()
  writeFileSync(join(directory, 'rota.config.yaml'), yaml)
  return directory
}

const greet = `app: shop\njobs: { greet: { command: [node, -e, "console.log('good day')"] } }\n`

describe('rota runs with many delayed runs', () => {
  it('lists what is due, says how many come later, and watches what happens now', async () => {
    const cwd = project(greet)
    const engine = started(['up'], { cwd })
    await engine.said('Ctrl-C')
    const delays = Array.from({ length: 22 }, (_, hour) => `${hour + 1}h`)
    for (const delay of delays) await rota(['enqueue', 'greet', '--delay', delay], { cwd })
    expect((await rota(['runs'], { cwd })).stdout).toBe(
      'no run is due yet; 22 are due later: `rota runs --state pending`\n',
    )
    const watching = started(['runs', '--watch'], { cwd })
    await watching.said('22 are due later')
    await rota(['run', 'greet'], { cwd })
    await watching.said(/\w{16} {2}done +greet/)
    const [all, since, pending, prefetch] = await Promise.all([
      rota(['runs'], { cwd }),
      rota(['runs', '--since', '1h', '--json'], { cwd }),
      rota(['runs', '--state', 'pending', '-n', '30', '--json'], { cwd }),
      rota(['runs', '--since', '+12h30m', '--json'], { cwd }),
    ])
    expect(all.stdout).toMatch(
      /^RUN .*\n\w{16} {2}done .*\n22 more are due later: `rota runs --state pending`\n$/,
    )
    expect(JSON.parse(since.stdout)).toHaveLength(1)
    expect(JSON.parse(pending.stdout)).toHaveLength(22)
    expect(JSON.parse(prefetch.stdout)).toHaveLength(10)
  }, 60_000)
})

describe('a renamed directory', () => {
  it('continues with a config that init wrote', async () => {
    const before = join(emptyDirectory(), 'rel1')
    mkdirSync(before)
    await rota(['init', '--yes'], { cwd: before })
    const engine = started(['up'], { cwd: before })
    await engine.said('Ctrl-C')
    engine.child.kill('SIGTERM')
    await engine.ended
    const after = join(before, '..', 'rel2')
    renameSync(before, after)
    const again = started(['up'], { cwd: after })
    await again.said('Ctrl-C')
  })

  it('without a name in its config gets an error that says which name to write', async () => {
    const before = join(emptyDirectory(), 'rel1')
    mkdirSync(before)
    writeFileSync(join(before, 'rota.config.yaml'), greet.replace('app: shop\n', ''))
    const engine = started(['up'], { cwd: before })
    await engine.said('Ctrl-C')
    engine.child.kill('SIGTERM')
    await engine.ended
    const after = join(before, '..', 'rel2')
    renameSync(before, after)
    const { code, stderr } = await rota(['up'], { cwd: after })
    expect(code).toBe(2)
    expect(stderr).toContain('job greet is already defined by config:rel1')
    expect(stderr).toContain('; if that app was renamed, set app: rel1 in the config [DEFINITION_CONFLICT]')
  })
})

describe('rota add', () => {
  it('accepts the same times as rota enqueue', async () => {
    for (const [index, at] of ['+2s', 'now', 'tomorrow', '2030-01-05', '09:30', '2030-01-05T09:00'].entries())
      await shop.printed('add', `at${index}`, '--at', at, '--job', 'later')
    await shop.printed(
      'add',
      'bounded',
      '--every',
      '1h',
      '--start',
      'tomorrow',
      '--end',
      '2w',
      '--job',
      'later',
    )
    expect(await shop.json('show', 'at3')).toMatchObject({
      trigger: { schedule: { kind: 'once', at: '2030-01-05T00:00:00Z' } },
    })
    await shop.printed('add', 'berlin', '--at', '2030-01-05', '--zone', 'Europe/Berlin', '--job', 'later')
    expect(await shop.json('show', 'berlin')).toMatchObject({
      trigger: { schedule: { kind: 'once', at: '2030-01-04T23:00:00Z' } },
    })
    const wrong = await shop.on('add', 'x', '--at', 'soon', '--job', 'later')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('tomorrow')
  })

  it('refuses an address that requests must not reach', async () => {
    const [metadata, inner, name] = await Promise.all([
      shop.on('add', 'x', '--url', 'http://169.254.169.254/'),
      shop.on('add', 'x', '--url', 'http://[::1]:8080/'),
      shop.on('add', 'x', '--url', 'http://metadata.google.internal/', '--timeout', 'soon'),
    ])
    for (const { code, stderr } of [metadata, inner, name]) {
      expect(code).toBe(2)
      expect(stderr).toContain('--url: ')
    }
    expect(metadata.stderr).toContain('169.254.169.254 is a link-local or metadata address')
    expect(name.stderr).toContain('--timeout: ')
  })
})

describe('a config with faults', () => {
  it('includes an unknown job, with its place', async () => {
    const both = project('jobs:\n  a: { command: ls }\ntriggers:\n  t: { job: b, every: 1m }\n')
    const alone = project('triggers:\n  t:\n    job: nothing\n    every: 1m\n')
    const [first, second] = await Promise.all([rota(['up'], { cwd: both }), rota(['up'], { cwd: alone })])
    expect(first.stderr).toMatch(
      /has 2 faults \[CONFIG_INVALID\]\n {2}rota\.config\.yaml:2:8: jobs\.a\.command: .*\n {2}rota\.config\.yaml:4:8: triggers\.t\.job: no job of this file is named b/,
    )
    expect(second.code).toBe(2)
    expect(second.stderr).toContain(': rota.config.yaml:3:5: triggers.t.job: no job is named nothing')
  })
})

describe('a config in code', () => {
  it.each(['mjs', 'ts'])('as %s that cannot be parsed says where', async (format) => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, `rota.config.${format}`), 'export default {\n  jobs: {\n    a: ,\n  }\n}\n')
    const { code, stderr } = await rota(['up'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(
      new RegExp(`cannot be loaded: .*rota\\.config\\.${format}:3:8: .* \\[CONFIG_INVALID\\]`),
    )
  })

  it('with an import that fails says where', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'part.mjs'), 'export const a = 1')
    writeFileSync(join(cwd, 'rota.config.mjs'), '\nimport { b } from "./part.mjs"\nexport default { b }\n')
    const { stderr } = await rota(['up'], { cwd })
    expect(stderr).toContain('cannot be loaded: rota.config.mjs:2: The requested module')
  })
})

describe('a store that cannot be used', () => {
  it('exits with 3 and says why', async () => {
    const cwd = emptyDirectory()
    mkdirSync(join(cwd, 'directory'))
    symlinkSync('nowhere', join(cwd, 'link'))
    writeFileSync(join(cwd, 'file'), 'x')
    writeFileSync(join(cwd, 'empty'), '')
    const on = (store: string) => rota(['add', 'x', '--store', store, '--', 'ls'], { cwd })
    const [directory, link, below, other, empty] = await Promise.all([
      on('sqlite:directory'),
      on('sqlite:link'),
      on('sqlite:file/rota.db'),
      on('mysql:x'),
      rota(['runs', '--store', 'sqlite:empty'], { cwd }),
    ])
    for (const { code } of [directory, link, below, other, empty]) expect(code).toBe(3)
    expect(below.stderr).toMatch(/file\/rota\.db cannot be opened: .*is not a directory.* \[STORE_URL\]/)
    expect(empty.stderr).toContain('[STORE_NOT_FOUND]')
    expect(statSync(join(cwd, 'empty')).size).toBe(0)
  })

  it.skipIf(process.getuid?.() === 0)('says that a directory is not writable', async () => {
    const cwd = emptyDirectory()
    chmodSync(cwd, 0o500)
    const { code, stderr } = await rota(['add', 'x', '--', 'ls'], { cwd })
    expect(code).toBe(3)
    expect(stderr).toContain('this user may not')
  })
})

describe('rota up', () => {
  it('starts on the default store if it exists and there is no config, and prints its process id', async () => {
    const cwd = emptyDirectory()
    await rota(['add', 'hello', '--at', 'now', '--', 'echo', 'hello'], { cwd })
    const engine = started(['up'], { cwd })
    expect(await engine.said(/✓ hello/)).toContain(`rota is up as process ${engine.child.pid}: `)
  })
})

describe('messages about small mistakes', () => {
  it('use the user of the machine if the environment names none', async () => {
    await rota(['freeze', '--store', shop.store], { env: { USER: '' } })
    const { stdout } = await rota(['doctor', '--store', shop.store])
    await shop.printed('thaw')
    expect(stdout).toContain(userInfo().username)
  })

  it('say how many characters of an id are needed', async () => {
    const { code, stderr } = await shop.on('retry', '01m')
    expect(code).toBe(2)
    expect(stderr).toContain(
      '"01m" is not the id of a run (allowed: the id, or at least its first 4 characters)',
    )
  })

  it('an expression that is never due exits with 1; one without quotes is recognised', async () => {
    const [never, json, unquoted] = await Promise.all([
      rota(['next', '0 0 30 2 *']),
      rota(['next', '0 0 30 2 *', '--json']),
      rota(['next', '0', '9', 'README.md', 'src', 'test']),
    ])
    expect(never).toMatchObject({ code: 1, stdout: expect.stringContaining('it is never due') as unknown })
    expect(json).toMatchObject({ code: 1, stdout: expect.stringContaining('"occurrences":[]') as unknown })
    expect(unquoted.code).toBe(2)
    expect(unquoted.stderr).toContain("<expression> came as 5 words; put it in quotes (allowed: '0 9 * * *')")
  })

  it('--help, --names and --json can be combined', async () => {
    const [help, names, jobs, wrong] = await Promise.all([
      rota(['--help', '--json']),
      shop.json<string[]>('list', '--names'),
      shop.json<string[]>('list', '--jobs', '--names'),
      rota(['ls']),
    ])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(names).toContain('nightly')
    expect(jobs).toContain('greet')
    expect(wrong.stderr).toContain('unknown command `ls` (did you mean `list`?)')
  })

  it.each([40, 60])('help and doctor fit %i columns', async (columns) => {
    const env = { COLUMNS: String(columns) }
    const texts = await Promise.all([
      rota(['--help'], { env }),
      rota(['runs', '--help'], { env }),
      rota(['doctor', '--store', shop.store], { env }),
    ])
    // A path is never wrapped, however long it is on this machine.
    const isFree = (line: string): boolean => !/^ {2}rota /.test(line) && !line.includes(shop.store)
    const words = texts.flatMap(({ stdout }) => stdout.split('\n')).filter(isFree)
    const wide = words.filter((line) => displayWidth(line) > columns && line.trim().split(' ').length > 3)
    expect(wide).toEqual([])
  })
})
