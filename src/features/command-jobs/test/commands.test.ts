import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { runHere } from '../../../../test/cli/in-process.js'
import { emptyDirectory, main, rota, start, tooWide, type Ended } from '../../../../test/cli/rota.js'

const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))
const line =
  '{"id":"job_123","type":"recurring","schedule":"0 9 * * *","command":"check_status","user_id":"user1","metadata":{},"executed":false,"executed_at":null}'

/** Runs a command in its own directory. */
function inside(cwd: string): (...args: string[]) => Promise<Ended> {
  return (...args) => runHere(args, { directory: cwd })
}

describe('rota job', () => {
  it('N3: add, get, list, run, remove and cleanup, as text and as JSON', async () => {
    const on = inside(emptyDirectory())
    const daily = ['--schedule', '0 9 * * *', '--command', 'check_status', '--user', 'user1']
    const added = await on('job', 'add', 'job_123', ...daily, '--metadata', 'chat=4=2')
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(added.stdout).toMatch(/^added job job_123, due \d{4}-\d\d-\d\dT09:00:00Z\n$/)
    const random = await on('job', 'add', '--at', '+2h', '--command', 'remind', '--json')
    const { id, type, state } = JSON.parse(random.stdout) as Record<string, string>
    expect({ id, type, state }).toMatchObject({
      id: expect.stringMatching(/^job_[0-9a-f]{32}$/),
      type: 'oneshot',
      state: 'scheduled',
    })
    const shown = await on('job', 'get', 'job_123')
    expect(shown.stdout).toContain('{"chat":"4=2"}')
    const listed = await on('job', 'list')
    expect(tooWide(listed.stdout)).toEqual([])
    expect(listed.stdout).toMatch(/job_123 .*scheduled.*0 9 \* \* \*.*check_status/)
    const twice = await on('job', 'add', 'job_123', ...daily)
    expect(twice).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[DEFINITION_CONFLICT]') as unknown,
    })
    expect((await on('job', 'run', 'job_123')).stdout).toMatch(/^\w{36}\n$/)
    expect((await on('job', 'remove', 'job_123')).stdout).toBe('job job_123 is removed\n')
    const runs = await on('runs', '--json')
    expect(JSON.parse(runs.stdout)).toMatchObject([
      { state: 'cancelled', reason: 'removed', trigger: 'job_123' },
    ])
    expect((await on('job', 'cleanup', '--dry-run')).stdout).toContain('0 executed one-shots removed\n')
    const list = JSON.parse((await on('job', 'list', '--json')).stdout) as { id: string }[]
    expect(list.map((one) => one.id)).toEqual([id])
  })

  it('N7: an invalid expression is refused with its position, and other misuse with what is allowed', async () => {
    const on = inside(emptyDirectory())
    const bad = await on('job', 'add', '--schedule', '0 25 * * *', '--command', 'c')
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('at position 2') as unknown })
    for (const args of [
      ['start'],
      ['get'],
      ['list', 'x'],
      ['add', '--command', 'c'],
      ['add', '--schedule', '@daily'],
      ['add', '--schedule', '@daily', '--at', '+1h', '--command', 'c'],
      ['add', '--schedule', '@daily', '--command', 'c', '--metadata', 'x'],
      ['list', '--dry-run'],
    ])
      expect(await on('job', ...args), args.join(' ')).toMatchObject({ code: 2 })
    const unknown = await on('job', 'get', 'x', '--store', 'sqlite:other.db')
    expect(unknown.code).toBe(3)
  })
})

describe('rota import and rota export', () => {
  it('N4: lines are imported and exported byte for byte, with a report of each', async () => {
    const cwd = emptyDirectory()
    const on = inside(cwd)
    writeFileSync(join(cwd, 'jobs.jsonl'), `${line}\n{"id":"x"}\n`)
    const dry = await on('import', 'jobs.jsonl', '--dry-run')
    expect(dry.code).toBe(1)
    expect(readdirSync(cwd)).toEqual(['jobs.jsonl'])
    expect(dry.stdout).toMatch(
      /1 {2}added {6}job_123\n.*2 {2}faulty\n {6}2:1: type is missing \(allowed: [^]*1 added, 1 faulty; nothing was changed\n$/,
    )
    expect((await on('import', 'jobs.jsonl', '--strict')).code).toBe(2)
    const real = await on('import', 'jobs.jsonl', '--json')
    expect(JSON.parse(real.stdout)).toMatchObject([
      { line: 1, id: 'job_123', became: 'added' },
      { line: 2, id: null, became: 'faulty' },
    ])
    expect((await on('export')).stdout).toBe(`${line}\n`)
    expect(JSON.parse((await on('export', '--json')).stdout)).toEqual([JSON.parse(line)])
    expect((await on('export', 'out.jsonl')).stdout).toBe('wrote 1 job to out.jsonl\n')
    expect(readFileSync(join(cwd, 'out.jsonl'), 'utf8')).toBe(`${line}\n`)
    expect(await on('export', 'out.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('out.jsonl: this already exists') as unknown,
    })
    expect((await on('import', 'nowhere.jsonl')).code).toBe(2)
  })
})

describe('a jobs file that is used in place', () => {
  it('is listed with jobs that are not in the store yet, before and after there is a store', async () => {
    const cwd = emptyDirectory()
    const on = inside(cwd)
    const once =
      '{"id":"a","type":"oneshot","execute_at":"2026-01-05T09:00:00Z","command":"c","executed":true}'
    writeFileSync(join(cwd, 'jobs.jsonl'), `${line}\n${once}\n`)
    const states = async (): Promise<unknown[]> => {
      const { stdout } = await on('job', 'list', '--jobs', 'jobs.jsonl', '--json')
      return (JSON.parse(stdout) as { id: string; state: string }[]).map(({ id, state }) => [id, state])
    }
    const unread = [
      ['a', 'executed'],
      ['job_123', 'created'],
    ]
    expect(await states()).toEqual(unread)
    expect(readdirSync(cwd)).toEqual(['jobs.jsonl'])
    const daily = ['--schedule', '@daily', '--command', 'c', '--jobs', 'jobs.jsonl']
    expect((await on('job', 'add', 'own', ...daily)).code).toBe(0)
    expect(await states()).toEqual([...unread, ['own', 'scheduled']])
    const one = await on('job', 'get', 'job_123', '--jobs', 'jobs.jsonl')
    expect(one.stdout).toMatch(/state +created/)
  })

  it('up prints the lines that it ignores, with their faults', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'jobs.jsonl'), `${line}\n{"id":"torn","type":\n${line}\n`)
    const up = start(['up', '--jobs', 'jobs.jsonl'], { cwd })
    const told = await up.said('[JOBS_INVALID]')
    expect(told).toMatch(/ignored: 2:21: not JSON: .*; 3:2 id: line 1 already has this id \[JOBS_INVALID\]/)
    up.child.kill('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })
})

describe.skipIf(process.platform === 'win32')('a jobs file with problems', () => {
  const list = ['job', 'list', '--jobs', 'jobs.jsonl']

  const kinds: readonly (readonly [string, RegExp])[] = [
    ['mkdir jobs.jsonl', /^error: \/.*jobs\.jsonl: it is not a file \[JOBS_INVALID\]\n$/],
    ['ln -s other jobs.jsonl', /jobs\.jsonl: it is a symbolic link; name the file itself/],
    ['mkfifo jobs.jsonl', /jobs\.jsonl: it is not a file/],
    [`echo '{"id":' > jobs.jsonl`, /1:7: not JSON/],
    [`printf '\\377\\n' > jobs.jsonl`, /1:1: it is not UTF-8 text/],
  ]

  it('N4: list reports the problem, and still lists the jobs of the store', async () => {
    const cwd = emptyDirectory()
    const on = inside(cwd)
    await on('job', 'add', 'known', '--schedule', '@daily', '--command', 'c')
    for (const [make, told] of kinds) {
      execFileSync('sh', ['-c', `rm -rf jobs.jsonl; ${make}`], { cwd })
      const listed = await on(...list)
      expect(listed, make).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^JOB .*\nknown /) as unknown,
        stderr: expect.stringMatching(told) as unknown,
      })
    }
    const json = await on(...list, '--json')
    expect(JSON.parse(json.stdout)).toMatchObject([{ id: 'known' }])
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'JOBS_INVALID' } })
  })

  it.skipIf(process.getuid?.() === 0)(
    'N4: list says that it may not read the file (root may read all)',
    async () => {
      const cwd = emptyDirectory()
      writeFileSync(join(cwd, 'jobs.jsonl'), `${line}\n`, { mode: 0o000 })
      expect((await inside(cwd)(...list)).stderr).toContain('this user may not read it')
    },
  )

  it('N4: a file or a store that every user may write is warned about', async () => {
    const cwd = emptyDirectory()
    const on = inside(cwd)
    const add = ['--schedule', '@daily', '--command', 'c', '--jobs', 'jobs.jsonl']
    expect(await on('job', 'add', 'a', ...add)).toMatchObject({ code: 0, stderr: '' })
    expect((await on('doctor')).stdout).not.toContain('every user')
    chmodSync(join(cwd, 'jobs.jsonl'), 0o666)
    chmodSync(join(cwd, 'data', 'rota.db'), 0o602)
    const listed = await on(...list)
    expect(listed.code).toBe(0)
    expect(listed.stderr).toMatch(
      /^warning: every user of this machine may write \/.*jobs\.jsonl, and can change what runs here; .*chmod o-w \/.*jobs\.jsonl\n$/,
    )
    const findings = JSON.parse((await on('doctor', '--json')).stdout) as { findings: unknown[] }
    expect(findings.findings).toContainEqual({
      check: 'store',
      level: 'warn',
      message: expect.stringMatching(/every user of this machine may write .*rota\.db/) as unknown,
      todo: expect.stringMatching(/chmod o-w .*rota\.db$/) as unknown,
    })
    const up = start(['up', '--jobs', 'jobs.jsonl'], { cwd })
    await up.said(
      /may write .*rota\.db[^]*may write .*jobs\.jsonl|may write .*jobs\.jsonl[^]*may write .*rota\.db/,
    )
    up.child.kill('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })
})

const smallDisk = (cwd: string, script: string): [string, string[]] => [
  'unshare',
  ['-rm', 'sh', '-c', `mount -t tmpfs -o size=256k tmpfs '${cwd}' && cd '${cwd}' && ${script}`],
]
const canMount = spawnSync(...smallDisk(tmpdir(), 'true')).status === 0

it.skipIf(!canMount)('N12: a jobs file on a full disk is exit 3, and stays as it was', () => {
  const cwd = emptyDirectory()
  const store = `sqlite:${join(emptyDirectory(), 'rota.db')}`
  const job = `node '${main}' job`
  const where = `--jobs jobs.jsonl --store '${store}'`
  // The added line does not fit into the blocks that the file already has.
  const add = `${job} add big --schedule @daily --command c --metadata "x=$(head -c 9000 /dev/zero | tr '\\0' x)"`
  const script = `
    for id in a b; do ${job} add $id --schedule @daily --command c ${where} > /dev/null || exit 9; done
    cp jobs.jsonl '${cwd}.before'
    cat /dev/zero > filler 2> /dev/null
    ${add} ${where}; echo "added $?"
    ${job} remove a ${where}; echo "removed $?"
    cmp jobs.jsonl '${cwd}.before' && ls`
  const ended = spawnSync(...smallDisk(cwd, script), { encoding: 'utf8' })
  rmSync(`${cwd}.before`, { force: true })
  expect(ended.stdout).toBe('added 3\nremoved 3\nfiller\njobs.jsonl\njobs.jsonl.lock\n')
  expect(
    ended.stderr.match(/jobs\.jsonl: it cannot be written: the disk is full.* \[STORE_FULL\]/g),
  ).toHaveLength(2)
})

describe('a jobs file with many writers', () => {
  it('N4: processes that add and remove lines, while another program appends, lose and duplicate no line', async () => {
    const cwd = emptyDirectory()
    const on = inside(cwd)
    const file = join(cwd, 'data', 'jobs.jsonl')
    const store = ['--store', 'files:data']
    await on('job', 'add', 'first', '--schedule', '@daily', '--command', 'c', ...store)
    const adding = Array.from({ length: 6 }, (_, n) =>
      on('job', 'add', `own-${n}`, '--schedule', '@daily', '--command', 'c', ...store),
    )
    const removing = on('job', 'remove', 'first', ...store)
    for (let n = 0; n < 6; n++) {
      appendFileSync(file, `${line.replace('job_123', `foreign-${n}`)}\n`)
      await Promise.race(adding)
    }
    expect((await Promise.all([...adding, removing])).map(({ code }) => code)).toEqual(Array(7).fill(0))
    const ids = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as { id: string }).id)
    const expected = ['foreign', 'own'].flatMap((who) => Array.from({ length: 6 }, (_, n) => `${who}-${n}`))
    expect(ids.toSorted()).toEqual(expected)
  }, 60_000)
})

describe('a one-shot under kill -9', () => {
  it.each(['sqlite:rota.db', 'files:data'])(
    'N6: a one-shot whose process is killed while it runs is performed again and marked once, after its end (%s)',
    async (store) => {
      const cwd = emptyDirectory()
      const performed = join(cwd, 'performed.txt')
      const go = join(cwd, 'go')
      const env = { JOBS_TEST_PERFORMED: performed, JOBS_TEST_GO: go }
      const jobsFile = store.startsWith('files:') ? join(cwd, 'data', 'jobs.jsonl') : join(cwd, 'jobs.jsonl')
      const place = store.startsWith('files:') ? [] : ['--jobs', 'jobs.jsonl']
      const up = (): ReturnType<typeof start> =>
        start(['up', '--config', config, '--store', store, ...place, '--json'], { cwd, env })
      const add = await rota(
        [
          'job',
          'add',
          'once',
          '--at',
          '2026-01-01T00:00:00Z',
          '--command',
          'remind',
          '--store',
          store,
          ...place,
        ],
        { cwd },
      )
      expect(add).toMatchObject({ code: 0, stderr: '' })
      const begun = async (text: string): Promise<void> => {
        while (!existsSync(performed) || readFileSync(performed, 'utf8') !== text) await wait(20)
      }
      const first = up()
      await begun('remind 1\n')
      first.child.kill('SIGKILL')
      await first.ended
      expect(readFileSync(jobsFile, 'utf8')).toContain('"executed":false')
      const second = up()
      await begun('remind 1\nremind 2\n')
      expect(readFileSync(jobsFile, 'utf8')).toContain('"executed":false')
      writeFileSync(go, '')
      while (!readFileSync(jobsFile, 'utf8').includes('"executed":true')) await wait(20)
      second.child.kill('SIGTERM')
      expect((await second.ended).code).toBe(0)
      const third = up()
      await third.said(/"level"|scheduler/)
      third.child.kill('SIGTERM')
      await third.ended
      expect(readFileSync(performed, 'utf8')).toBe('remind 1\nremind 2\n')
      const lines = readFileSync(jobsFile, 'utf8').trim().split('\n')
      expect(lines.length).toBe(1)
      expect(existsSync(`${jobsFile}.quarantine`)).toBe(false)
      const got = await rota(['job', 'get', 'once', '--json', '--store', store, ...place], { cwd })
      const { state, executedAt } = JSON.parse(got.stdout) as Record<string, string>
      expect(state).toBe('executed')
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ executed: true, executed_at: executedAt })
    },
    60_000,
  )
})
