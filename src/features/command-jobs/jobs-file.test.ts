import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../store/port.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { formatInstant } from '../../time/instant.js'
import { createApp, type App } from '../../app/rota.js'
import { JobsFile } from './jobs-file.js'

const monday = Date.UTC(2026, 0, 5)
const second = 1000
const minute = 60 * second

const recurring =
  '{"id":"job_123","type":"recurring","schedule":"0 9 * * *","command":"check_status","user_id":"user1","metadata":{},"executed":false,"executed_at":null}'
/** As another program may write it: different order, spaces, an offset. */
const foreign =
  '{ "command": "remind",  "id": "job_124", "type": "oneshot", "execute_at": "2026-01-05T07:00:05+07:00", "executed": false }'

let directory: string
let path: string
let clock: FakeClock
let taken: string[]
let troubles: string[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-jobs-file-'))
  path = join(directory, 'jobs.jsonl')
  clock = new FakeClock(monday)
  taken = []
  troubles = []
})

/** Writes the file with a modification time this long before now. */
function write(text: string, ageMs = 5 * minute): void {
  writeFileSync(path, text)
  touch(ageMs)
}

function touch(ageMs = 0): void {
  const at = (clock.now() - ageMs) / 1000
  utimesSync(path, at, at)
}

function text(): string {
  return readFileSync(path, 'utf8')
}

/** An app that uses the file in place, with its own store. */
async function started(store = 'sqlite:rota.db', prepare?: (app: App) => unknown): Promise<App> {
  const app = createApp({ store, durability: 'normal', directory, clock }, 'code:test')
  prepare?.(app)
  app.commands.handle(({ task }) => void taken.push(task.id))
  app.on('trouble', ({ error }) => troubles.push((error as Error).message))
  if (!store.startsWith('files:')) app.commands.useFile('jobs.jsonl')
  else path = join(directory, store.slice('files:'.length), 'jobs.jsonl')
  await passing(app.start())
  return app
}

async function ids(app: App): Promise<string[]> {
  return (await passing(app.commands.list())).map(({ id }) => id)
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

describe('a jobs file that is used in place', () => {
  it('N4: its lines run as they are, and only the mark of an executed job is written', async () => {
    write(`${recurring}\n${foreign}\n`)
    const app = await started()
    expect(await ids(app)).toEqual(['job_123', 'job_124'])
    expect((await passing(app.commands.get('job_123'))).source).toBe(`jobs:${path}`)
    await until(() => taken.length === 1)
    expect(taken).toEqual([`cron_job_124_${monday + 5000}`])
    await until(() => text().includes('"executed":true'))
    const executedAt = formatInstant((await passing(app.commands.get('job_124'))).executedAt ?? 0)
    expect(text()).toBe(
      `${recurring}\n{"command":"remind","id":"job_124","type":"oneshot","execute_at":"2026-01-05T07:00:05+07:00","executed":true,"executed_at":"${executedAt}"}\n`,
    )
    touch()
    await clock.advance(5 * minute)
    expect((await passing(app.commands.get('job_124'))).state).toBe('executed')
    expect(taken.length).toBe(1)
    expect(troubles).toEqual([])
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a line that another program adds or removes is noticed within a minute', async () => {
    write(`${recurring}\n`)
    const told: unknown[] = []
    const app = await started('sqlite:rota.db', (one) => one.on('definitions', (event) => told.push(event)))
    await clock.advance(10 * second)
    appendFileSync(path, `${recurring.replace('job_123', 'job_200')}\n`)
    touch()
    const addedAt = clock.now()
    expect((await passing(app.commands.get('job_200'))).state).toBe('created')
    await until(async () => (await passing(app.commands.get('job_200'))).state === 'scheduled', second)
    expect(await ids(app)).toEqual(['job_123', 'job_200'])
    expect(clock.now() - addedAt).toBeLessThanOrEqual(minute)
    write(`${recurring}\n`, 0)
    const removedAt = clock.now()
    await until(async () => (await ids(app)).length === 1, second)
    expect(clock.now() - removedAt).toBeLessThanOrEqual(minute)
    expect((await passing(app.commands.get('job_200'))).state).toBe('removed')
    const source = `jobs:${path}`
    const names = ['trigger job_200']
    await until(() => told.length === 2)
    expect(told).toEqual([
      { source, defined: names, changed: [], ended: [] },
      { source, defined: [], changed: [], ended: names },
    ])
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a file that is empty for a moment while somebody writes it removes nothing', async () => {
    write(`${recurring}\n`)
    const app = await started()
    const { definedAt } = (await passing(app.triggers.list()))[0] ?? {}
    write('', 0)
    await clock.advance(9 * second)
    write(`${recurring}\n`, 0)
    await clock.advance(2 * minute)
    expect(await ids(app)).toEqual(['job_123'])
    expect((await passing(app.triggers.list()))[0]).toMatchObject({ definedAt, version: 1 })
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a torn last line is ignored for a minute, because somebody may be writing it, and then reported; its bytes stay', async () => {
    const torn = '{"id":"job_9","type":"recurr'
    write(`${recurring}\n${foreign}\n${torn}`, 0)
    const app = await started()
    expect(await ids(app)).toEqual(['job_123', 'job_124'])
    await clock.advance(20 * second)
    expect(troubles).toEqual([])
    expect(text()).toBe(`${recurring}\n${foreign}\n${torn}`)
    await until(() => troubles.length === 1, second)
    expect(troubles[0]).toMatch(/jobs\.jsonl has lines that are ignored:\n {2}3:\d+: not JSON/)
    await until(() => text().includes('"executed":true'), second)
    expect(text().endsWith(`\n${torn}`)).toBe(true)
    expect(JSON.parse(readFileSync(`${path}.quarantine`, 'utf8'))).toMatchObject({ line: 3, text: torn })
    const added = await passing(
      app.commands.add({ id: 'x', type: 'recurring', schedule: '0 9 * * *', command: 'c' }),
    )
    expect(text()).toContain(`\n${torn}\n{"id":"${added.id}"`)
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: an unknown field, a duplicate id and a missing type are reported and quarantined, and never overwritten', async () => {
    const lines = [
      recurring,
      `${recurring.replace('job_123', 'a').slice(0, -1)},"cmd":"x"}`,
      recurring.replace('check_status', 'other'),
      recurring.replace('job_123', 'b').replace('"type":"recurring",', ''),
      foreign,
    ]
    write(`${lines.join('\r\n')}\r\n`)
    const app = await started()
    expect(await ids(app)).toEqual(['job_123', 'job_124'])
    expect((await passing(app.commands.get('job_123'))).command).toBe('check_status')
    expect(troubles.length).toBe(1)
    for (const named of [
      '2:',
      'cmd: there is no such field',
      'line 1 already has this id',
      '4:1: type is missing',
    ])
      expect(troubles[0]).toContain(named)
    const set = readFileSync(`${path}.quarantine`, 'utf8').trim().split('\n')
    expect(set.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([2, 3, 4])
    await until(() => text().includes('"executed":true'))
    expect(text().split('\r\n').slice(0, 4)).toEqual(lines.slice(0, 4))
    write(`${recurring}\n`)
    await until(() => !existsSync(`${path}.quarantine`), second)
    expect(troubles.length).toBe(1)
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a file store keeps its jobs in jobs.jsonl: add, remove and clean up change its lines and no others', async () => {
    const app = await started('files:data')
    await passing(
      app.commands.add({
        id: 'a',
        type: 'recurring',
        schedule: '0 9 * * *',
        command: 'c',
        metadata: { k: 'v' },
      }),
    )
    expect(text()).toBe(
      '{"id":"a","type":"recurring","schedule":"0 9 * * *","command":"c","user_id":"","metadata":{"k":"v"},"executed":false,"executed_at":null}\n',
    )
    const first = text()
    touch()
    appendFileSync(path, 'not json\n')
    await passing(app.commands.add({ id: 'b', type: 'oneshot', executeAt: new Date(monday), command: 'c' }))
    touch()
    await until(() => text().includes('"executed":true'))
    touch()
    await expect(
      passing(app.commands.add({ id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'd' })),
    ).rejects.toMatchObject({ code: 'DEFINITION_CONFLICT' })
    expect(await passing(app.commands.cleanup())).toEqual(['b'])
    expect(text()).toBe(`${first}not json\n`)
    touch()
    expect((await passing(app.commands.remove('a'))).state).toBe('removed')
    expect(text()).toBe('not json\n')
    touch()
    await clock.advance(2 * minute)
    expect(await ids(app)).toEqual([])
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: the jobs of a file store survive a restart, and a lost file is written again', async () => {
    const first = await started('files:data')
    await passing(first.commands.add({ id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'c' }))
    const before = text()
    await passing(first.stop({ grace: 0 }))
    rmSync(path)
    const app = await started('files:data')
    expect(text()).toBe(before)
    touch()
    await clock.advance(minute)
    expect(await ids(app)).toEqual(['a'])
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a one-shot that another program marks as executed is not executed here', async () => {
    const later = foreign.replace('07:00:05+07:00', '00:10:00Z')
    write(`${later}\n`)
    const app = await started()
    expect((await passing(app.commands.get('job_124'))).state).toBe('scheduled')
    write(`${later.replace('false', 'true, "executed_at": "2026-01-05T00:00:01Z"')}\n`, 0)
    await until(async () => (await passing(app.commands.get('job_124'))).state === 'executed', second)
    expect((await passing(app.commands.get('job_124'))).executedAt).toBe(monday + second)
    await clock.advance(11 * minute)
    expect(taken).toEqual([])
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a job whose line gets a fault continues unchanged, and the line counts again when it is corrected', async () => {
    write(`${recurring}\n${recurring.replace('job_123', 'job_200')}\n`)
    const app = await started()
    const before = await passing(app.triggers.list())
    write(`${recurring.replace('0 9', '0 25')}\n{"id":"job_200","type":"recurr\n`)
    await until(() => troubles.length === 1, second)
    await clock.advance(2 * minute)
    expect(await passing(app.triggers.list())).toEqual(before)
    write(`${recurring.replace('0 9', '0 10')}\n`)
    await until(async () => (await ids(app)).length === 1, second)
    expect((await passing(app.commands.get('job_123'))).schedule).toBe('0 10 * * *')
    await passing(app.stop({ grace: 0 }))
  })

  it('N4: a file that changed after it was read is not replaced', async () => {
    write(`${recurring}\n`)
    const file = new JobsFile(path, clock)
    const read = await file.read()
    appendFileSync(path, `${foreign}\n`)
    expect(await file.replace([], read)).toBe('stale')
    expect(text()).toBe(`${recurring}\n${foreign}\n`)
    expect(await file.replace([], await file.read())).toBe('replaced')
    expect(text()).toBe('')
    expect(readdirSync(directory)).toEqual(['jobs.jsonl'])
  })

  it('N4: an id that another source owns is reported, and its line is ignored', async () => {
    write(`${recurring}\n`)
    const other = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'api')
    await passing(
      other.commands.add({ id: 'job_123', type: 'recurring', schedule: '0 1 * * *', command: 'mine' }),
    )
    await passing(other.close())
    const app = await started()
    expect((await passing(app.commands.get('job_123'))).command).toBe('mine')
    expect(text()).toBe(`${recurring}\n`)
    expect(troubles).toEqual([expect.stringContaining('1:1 id: job_123 is already defined by jobs')])
    await passing(app.stop({ grace: 0 }))
  })

  it.each(['a directory', 'a symbolic link'])(
    'N12: a jobs file that is %s is told and stops nothing, and no job is acknowledged that was not saved',
    async (what) => {
      if (what === 'a directory') mkdirSync(path)
      else {
        writeFileSync(join(directory, 'elsewhere'), `${recurring}\n`)
        symlinkSync(join(directory, 'elsewhere'), path)
      }
      const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'code:test')
      let ticks = 0
      app.job('tick', () => void ticks++)
      app.schedule('tick', { job: 'tick', cron: '* * * * * *' })
      app.on('trouble', ({ error }) => troubles.push((error as RotaError).code))
      app.commands.useFile('jobs.jsonl')
      await passing(app.start())
      const added = passing(
        app.commands.add({ id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'c' }),
      )
      await expect(added).rejects.toMatchObject({ code: 'JOBS_INVALID' })
      expect(await ids(app)).toEqual([])
      await until(() => ticks >= 3, second)
      expect(troubles).toEqual(['JOBS_INVALID'])
      rmSync(path, { recursive: true })
      write(`${recurring}\n`)
      await until(async () => (await ids(app)).length === 1, second)
      await passing(app.stop({ grace: 0 }))
    },
  )

  it('N12: if the store cannot save a job, its line is removed from the file again', async () => {
    write(`${recurring}\n`)
    const app = await started()
    const store = await app.store()
    const repair = fillDisk(store)
    const added = passing(
      app.commands.add({ id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'c' }),
    )
    await expect(added).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(text()).toBe(`${recurring}\n`)
    repair()
    await clock.advance(2 * minute)
    expect(await ids(app)).toEqual(['job_123'])
    await passing(app.stop({ grace: 0 }))
  })

  it('N12: if the store cannot save a job, adding it rejects, the scheduler continues, and nothing is stored', async () => {
    const app = createApp({ store: 'memory:', directory, clock }, 'code:test')
    let ticks = 0
    app.job('tick', () => void ticks++)
    app.schedule('tick', { job: 'tick', cron: '* * * * * *' })
    await passing(app.start())
    const store = await app.store()
    const repair = fillDisk(store)
    const job = { id: 'a', type: 'recurring', schedule: '0 9 * * *', command: 'c' } as const
    await expect(app.commands.add(job)).rejects.toMatchObject({ code: 'STORE_FULL' })
    await until(() => ticks >= 2, second)
    expect(await ids(app)).toEqual([])
    repair()
    await passing(app.commands.add(job))
    expect(await ids(app)).toEqual(['a'])
    await passing(app.stop({ grace: 0 }))
  })
})

/** Makes a store fail to save triggers; returns the function that undoes it. */
function fillDisk(store: Store): () => void {
  const audited = store.audited.bind(store)
  const refuse = () => Promise.reject(new RotaError('STORE_FULL', 'the disk is full'))
  store.audited = (record) => Object.assign(audited(record), { defineTriggers: refuse })
  return () => (store.audited = audited)
}
