import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.js'
import { createApp, type App } from '../../app/rota.js'
import { JobsFile } from './jobs-file.js'

const monday = Date.UTC(2026, 0, 5)
const second = 1000
const minute = 60 * second

let directory: string
let path: string
let clock: FakeClock
let troubles: string[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-jobs-trouble-'))
  path = join(directory, 'jobs.jsonl')
  clock = new FakeClock(monday)
  troubles = []
})

function line(id: string): string {
  return `${JSON.stringify({ id, type: 'recurring', schedule: '0 9 * * *', command: 'c' })}\n`
}

/** Writes the file with a modification time this long before now. */
function write(text: string, ageMs = 5 * minute): void {
  writeFileSync(path, text)
  const at = (clock.now() - ageMs) / 1000
  utimesSync(path, at, at)
}

async function started(store = 'memory:'): Promise<App> {
  const app = createApp({ store, durability: 'normal', directory, clock }, 'code:test')
  app.on('trouble', ({ error }) => troubles.push((error as Error).message))
  app.on('fatal', ({ error }) => troubles.push(`fatal: ${(error as Error).message}`))
  app.commands.useFile('jobs.jsonl')
  await passing(app.start())
  onTestFinished(() => passing(app.stop({ grace: 0 })))
  return app
}

async function ids(app: App): Promise<string[]> {
  return (await passing(app.commands.list())).map(({ id }) => id)
}

async function add(app: App, id: string): Promise<unknown> {
  return await passing(app.commands.add({ id, type: 'recurring', schedule: '0 9 * * *', command: 'c' }))
}

/** Advances the clock until a promise settles: waiting for a lock uses the clock. */
async function passing<T>(asked: Promise<T>): Promise<T> {
  let isOver = false
  const over = (): void => void (isOver = true)
  asked.then(over, over)
  await until(() => isOver, 1)
  return await asked
}

/** Advances the clock until a condition is true, however long file operations take. */
async function until(isTrue: () => boolean | Promise<boolean>, stepMs = 10): Promise<void> {
  while (!(await isTrue())) await clock.advance(stepMs)
}

describe('a jobs file with problems', () => {
  it('N12: a lock file that belongs to another program is reported and not touched, and stops nothing else', async () => {
    write(line('a'))
    writeFileSync(`${path}.lock`, 'process 4711 of the other program has this\n'.repeat(100))
    const app = await started()
    await until(() => troubles.length > 0, second)
    expect(troubles).toEqual([expect.stringMatching(/^\/.*jobs\.jsonl: it cannot be locked: /)])
    await expect(add(app, 'b')).rejects.toMatchObject({ code: 'JOBS_INVALID' })
    rmSync(`${path}.lock`)
    await until(async () => (await ids(app)).length === 1, second)
    expect(troubles).toHaveLength(1)
  })

  it('N12: refuses lines that would make it too large to read, and stays unchanged', async () => {
    write('')
    truncateSync(path, 67_108_864)
    await expect(new JobsFile(path, clock).append(['{}'])).rejects.toMatchObject({
      code: 'JOBS_INVALID',
      message: expect.stringContaining('67108867 bytes are too many') as unknown,
    })
    expect(statSync(path).size).toBe(67_108_864)
  })

  it('N4: a file whose time is ahead of the clock is still used', async () => {
    write(line('a') + line('b'), -365 * 24 * 60 * minute)
    const app = await started()
    expect(await ids(app)).toEqual(['a', 'b'])
    write(line('a'), -364 * 24 * 60 * minute)
    await until(async () => (await ids(app)).length === 1, second)
    expect(clock.now() - monday).toBeLessThan(30 * minute)
  })

  it('N4: of ten thousand faulty lines the first are reported, and all are listed in the quarantine file', async () => {
    write('x\n'.repeat(10_000))
    await started()
    await until(() => troubles.length > 0, second)
    expect(troubles[0]?.split('\n')).toHaveLength(22)
    expect(troubles[0]).toMatch(/… and 9980 more$/)
    expect(readFileSync(`${path}.quarantine`, 'utf8').trimEnd().split('\n')).toHaveLength(10_000)
  })

  it('N12: if executed one-shots cannot be cleaned up, this is reported, the others are cleaned up, and the app starts', async () => {
    const done = { type: 'oneshot', execute_at: '2026-01-04T00:00:00Z', command: 'c', executed: true }
    write(`${JSON.stringify({ id: 'a', ...done })}\n`)
    const first = await started('sqlite:rota.db')
    expect(await ids(first)).toEqual(['a'])
    await passing(first.stop({ grace: 0 }))
    const plain = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:plain')
    writeFileSync(join(directory, 'import.jsonl'), `${JSON.stringify({ id: 'b', ...done })}\n`)
    await passing(plain.commands.import('import.jsonl'))
    await passing(plain.close())
    await clock.advance(24 * 60 * minute)
    rmSync(path)
    mkdirSync(path)
    const app = await started('sqlite:rota.db')
    expect(await ids(app)).toEqual(['a'])
    await clock.advance(10 * minute)
    expect(troubles).toEqual(Array(2).fill(`${path}: it is not a file`))
  })

  it.skipIf(process.getuid?.() !== 0)(
    'N4: a file of another user stays that user’s where it is written (only root can try)',
    async () => {
      write(line('a') + line('b'))
      chmodSync(path, 0o640)
      chownSync(path, 65_534, 65_533)
      const file = new JobsFile(path, clock)
      const text = await file.read()
      expect(await file.replace([Buffer.from(line('a'))], text)).toBe('replaced')
      const { uid, gid, mode } = statSync(path)
      expect([uid, gid, mode & 0o777]).toEqual([65_534, 65_533, 0o640])
    },
  )

  it('N4: adding a job while the file is missing removes no other job', async () => {
    write(line('a') + line('b'))
    const app = await started()
    expect(await ids(app)).toEqual(['a', 'b'])
    rmSync(path)
    await add(app, 'c')
    const before = (clock.now() - minute) / 1000
    utimesSync(path, before, before)
    await clock.advance(2 * minute)
    expect(await ids(app)).toEqual(['a', 'b', 'c'])
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(3)
  })
})

describe.skipIf(process.platform === 'win32')('a jobs file on a full disk', () => {
  const library = new URL('../../../dist/features/command-jobs/jobs-file.js', import.meta.url).href
  const clocks = new URL('../../../dist/time/clock.js', import.meta.url).href

  /** Changes the file in a process that may write only this many KiB to a file. */
  function within(kibibytes: number, act: string): string {
    const program = `
      import { JobsFile } from ${JSON.stringify(library)}
      import { systemClock } from ${JSON.stringify(clocks)}
      const file = new JobsFile(process.argv[1], systemClock)
      const lines = Array.from({ length: 100 }, (_, i) => 'x'.repeat(99) + i)
      try { ${act}; console.log('written') } catch (error) { console.log(error.code) }`
    const node = [process.execPath, '--input-type=module', '-e', program, path]
    const { stdout } = spawnSync('bash', ['-c', `ulimit -f ${kibibytes}; exec "$@"`, 'bash', ...node], {
      encoding: 'utf8',
    })
    return stdout.trim()
  }

  it('N12: keeps its contents if new lines do not fit', () => {
    writeFileSync(path, line('a'))
    expect(within(4, 'await file.append(lines)')).toBe('JOBS_INVALID')
    expect(readFileSync(path, 'utf8')).toBe(line('a'))
    expect(within(40, 'await file.append(lines)')).toBe('written')
  })

  it('N12: does not exist at all if it was lost and could not be written again', () => {
    expect(within(4, 'await file.create(lines)')).toBe('JOBS_INVALID')
    expect(existsSync(path)).toBe(false)
    expect(within(40, 'await file.create(lines)')).toBe('written')
    expect(readdirSync(directory)).toEqual(['jobs.jsonl'])
  })
})
