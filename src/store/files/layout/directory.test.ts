import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../../conformance/stage.js'
import type { Store } from '../../port.js'
import { openFilesStore } from '../files-store.js'

let parent: string
let path: string
const opened: Store[] = []

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'rota-files-'))
  path = join(parent, 'data')
})

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  rmSync(parent, { recursive: true })
})

const labels = { job_id: '96b0037ff184', run_id: 'morning_20260105_0900_96b0037ff184' }
const name = '20260105T000000Z_96b0037ff184.json'
const payload = { pipeline_path: 'pipeline.web.yml', params: { topic_seed: 'mindfulness' } }

describe('what people read', () => {
  it('Q1: a run is one file with the same name in every directory, the known keys first', async () => {
    const stage = await open()
    await stage.ready()
    await stage.enqueue([aRun('a', { labels, payload })])
    expect(Object.entries(read(`pending/${name}`)).slice(0, 10)).toEqual([
      ['schema_version', 'v1'],
      ['job_id', '96b0037ff184'],
      ['created_at', '2026-01-05T00:00:00Z'],
      ['scheduled_for', '2026-01-05T00:00:00Z'],
      ['pipeline_path', 'pipeline.web.yml'],
      ['run_id', 'morning_20260105_0900_96b0037ff184'],
      ['params', { topic_seed: 'mindfulness' }],
      ['status', 'pending'],
      ['attempts', 0],
      ['last_error', null],
    ])
    const claim = await stage.claimOne('w', t0 + 412)
    expect(read(`running/${name}`)).toMatchObject({
      status: 'running',
      attempts: 1,
      started_at: '2026-01-05T00:00:00.412Z',
      claimed_by: 'here:1',
      lease_until: '2026-01-05T01:00:00Z',
    })
    expect(files('pending')).toEqual([])
    await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + 900 })
    expect(read(`failed/${name}`)).toMatchObject({
      status: 'failed',
      last_error: { code: 'HANDLER_FAILED', message: 'no' },
      finished_at: '2026-01-05T00:00:00.900Z',
    })
    expect(files('running')).toEqual([])
  })

  it('a cancelled run is in failed with the code cancelled', async () => {
    const stage = await open()
    await stage.enqueue([aRun('a', { labels })])
    await stage.store.cancel({ run: aRun('a').id, now: t0, reason: 'not needed' })
    expect(read(`failed/${name}`)['last_error']).toEqual({ code: 'cancelled', message: 'not needed' })
  })

  it('two runs with the same public id and due instant have two files', async () => {
    const stage = await open()
    await stage.enqueue([aRun('a', { labels }), aRun('b', { labels })])
    expect(files('pending')).toEqual([name, `20260105T000000Z_${aRun('b').id}.json`].toSorted())
  })

  it('files are readable only by their owner', async () => {
    const stage = await open()
    await stage.enqueue([aRun('a')])
    for (const entry of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
      const found = statSync(join(path, entry))
      expect([entry, found.mode & 0o777]).toEqual([entry, found.isDirectory() ? 0o700 : 0o600])
    }
  })
})

describe('what other programs write', () => {
  const foreign = {
    schema_version: 'v1',
    job_id: '96b0037ff184',
    scheduled_for: '2026-01-05T00:00:00Z',
    pipeline_path: 'pipeline.web.yml',
    run_id: labels.run_id,
    params: { topic_seed: 'x' },
    colour: 'blue',
  }

  it('Q1: a well-formed file in pending becomes a run, and keeps its unknown keys', async () => {
    let stage = await open()
    await stage.jobs([aJob('pipeline')])
    await stage.worker('w')
    write(`pending/${name}`, foreign)
    stage = await reopen(stage)
    const claim = await stage.claimOne('w', t0)
    expect(claim).toMatchObject({
      job: 'pipeline',
      payload: { pipeline_path: 'pipeline.web.yml', params: { topic_seed: 'x' } },
    })
    expect((await stage.run(claim.run)).labels).toEqual(labels)
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(read(`done/${name}`)).toMatchObject({ status: 'done', colour: 'blue' })
  })

  it('Q1: the example of the guide is accepted', async () => {
    let stage = await open()
    await stage.jobs([aJob('pipeline')])
    await stage.worker('w', t0, 180 * minute)
    const example = '20260105T020000Z_96b0037ff184.json'
    copyFileSync(
      new URL(`../../../../examples/files/${example}`, import.meta.url),
      join(path, 'pending', example),
    )
    stage = await reopen(stage)
    expect(await stage.claim('w', t0 + 119 * minute)).toEqual([])
    expect((await stage.claimOne('w', t0 + 120 * minute)).payload).toEqual(payload)
    expect(files('running')).toEqual([example])
  })

  it('Q6: a file that comes back after its run was done makes no second run, even after done was emptied', async () => {
    let stage = await open()
    await stage.jobs([aJob('pipeline')])
    await stage.worker('w')
    write(`pending/${name}`, foreign)
    stage = await reopen(stage)
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 })
    rmSync(join(path, 'done', name))
    write(`pending/${name}`, foreign)
    stage = await reopen(stage)
    expect(await stage.claim('w', t0 + minute)).toEqual([])
    expect((await stage.store.counts()).done).toBe(1)
    expect(await faultsOf(stage)).toEqual([
      expect.stringContaining(`done/${name} is missing`),
      expect.stringContaining(`pending/${name} is already known`),
    ])
  })

  it.each([
    ['not JSON', '{"schema_version":', 'is not JSON'],
    ['a missing key', JSON.stringify({ ...foreign, run_id: undefined }), 'lacks run_id'],
    [
      'another instant',
      JSON.stringify({ ...foreign, scheduled_for: '2026-01-05T00:00:01Z' }),
      'should be named',
    ],
    ['another version', JSON.stringify({ ...foreign, schema_version: 'v2' }), 'allowed: v1'],
  ])(
    'a file with %s is left where it is: quietly for a minute, then it is reported',
    async (_, text, fault) => {
      let stage = await open()
      writeFileSync(join(path, 'pending', name), text)
      stage = await reopen(stage)
      await stage.worker('w')
      expect(await faultsOf(stage)).toEqual([])
      const old = systemClock.now() / 1000 - 61
      utimesSync(join(path, 'pending', name), old, old)
      stage = await reopen(stage)
      await stage.worker('w2')
      expect(await faultsOf(stage)).toEqual([expect.stringContaining(fault)])
      expect(readFileSync(join(path, 'pending', name), 'utf8')).toBe(text)
      expect((await stage.store.counts()).pending).toBe(0)
    },
  )

  it('a symbolic link in a queue directory is not followed', async () => {
    let stage = await open()
    writeFileSync(join(parent, 'elsewhere.json'), JSON.stringify(foreign))
    symlinkSync(join(parent, 'elsewhere.json'), join(path, 'running', name))
    stage = await reopen(stage)
    const later = systemClock.now() + 2 * minute
    expect(await faultsOf(stage, later)).toEqual([expect.stringContaining('is a symbolic link')])
  })

  it('a pending file that is removed by hand cancels its run', async () => {
    let stage = await open()
    await stage.ready()
    await stage.enqueue([aRun('a', { labels })])
    // Not every transaction scans for changes by others; the first one after opening does.
    const other = await open()
    rmSync(join(path, 'pending', name))
    await other.worker('v')
    expect(await other.run(aRun('a').id)).toMatchObject({
      state: 'cancelled',
      reason: `pending/${name} was removed`,
    })
    expect(files('failed')).toEqual([name])
    stage = await reopen(stage)
    expect(await stage.claim('w', t0)).toEqual([])
  })
})

describe('damage', () => {
  it('a torn last line is quarantined and reported, and nothing else is lost', async () => {
    let stage = await open()
    await stage.ready()
    await stage.store.hold({ target: 'queue:a', now: t0, actor: 'me', note: '' })
    await stage.store.close()
    appendFileSync(join(path, 'holds.jsonl'), '{"id":2,"tar')
    stage = await open()
    expect(await faultsOf(stage)).toEqual([expect.stringContaining('half a line')])
    expect((await stage.store.holds()).length).toBe(1)
    const [set] = files('quarantine')
    expect(readFileSync(join(path, 'quarantine', set ?? ''), 'utf8')).toBe('{"id":2,"tar')
    await stage.store.hold({ target: 'queue:b', now: t0, actor: 'me', note: '' })
    stage = await reopen(stage)
    expect((await stage.store.holds()).length).toBe(2)
  })

  it('G9: damage elsewhere is refused with its file and line, and nothing is changed', async () => {
    const stage = await open()
    await stage.store.hold({ target: 'queue:a', now: t0, actor: 'me', note: '' })
    await stage.store.hold({ target: 'queue:b', now: t0, actor: 'me', note: '' })
    await stage.store.close()
    const lines = readFileSync(join(path, 'holds.jsonl'), 'utf8')
    writeFileSync(join(path, 'holds.jsonl'), lines.replace('"id":1', '"id"'))
    await expect(openFilesStore({ path, clock: systemClock })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('holds.jsonl, line 1') as string,
    })
  })

  it('G9: a trigger that cannot be parsed is refused with its file', async () => {
    const stage = await open()
    await stage.trigger(aTrigger('Night'))
    await stage.store.close()
    const [file] = files('triggers')
    truncateSync(join(path, 'triggers', file ?? ''), 20)
    await expect(openFilesStore({ path, clock: systemClock })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    })
  })

  it('a queue file with invalid content is left in place and reported; other runs are not affected', async () => {
    let stage = await open()
    await stage.ready()
    await stage.enqueue([aRun('a', { labels }), aRun('b')])
    await stage.store.close()
    const file = read(`pending/${name}`)
    write(`pending/${name}`, { ...file, rota: { ...(file['rota'] as object), phase: 'dreaming' } })
    stage = await open()
    expect(await faultsOf(stage)).toEqual([expect.stringContaining('is damaged')])
    expect((await stage.claim('w', t0)).map(({ run }) => run)).toEqual([aRun('b').id])
  })

  it('a lost history is restored from the files', async () => {
    let stage = await open()
    await stage.ready()
    await stage.enqueue([aRun('a', { labels })])
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 })
    const before = await stage.run(aRun('a').id)
    await stage.store.close()
    rmSync(join(path, 'history.jsonl'))
    stage = await open()
    expect(await stage.run(aRun('a').id)).toEqual(before)
  })

  it('a directory that is a link, or leads elsewhere, is refused', async () => {
    mkdirSync(join(parent, 'real'))
    symlinkSync(join(parent, 'real'), path)
    await expect(openFilesStore({ path, clock: systemClock })).rejects.toMatchObject({ code: 'STORE_URL' })
    rmSync(path)
    mkdirSync(path)
    symlinkSync(join(parent, 'real'), join(path, 'pending'))
    await expect(openFilesStore({ path, clock: systemClock })).rejects.toMatchObject({ code: 'STORE_URL' })
  })

  it('a store of a newer Rota is refused, and a reader does not create a missing one', async () => {
    await expect(openFilesStore({ path, clock: systemClock, create: false })).rejects.toMatchObject({
      code: 'STORE_NOT_FOUND',
    })
    expect(existsSync(path)).toBe(false)
    const stage = await open()
    await stage.store.close()
    write('meta.json', { ...read('meta.json'), compatible_from: 99 })
    await expect(openFilesStore({ path, clock: systemClock })).rejects.toMatchObject({
      code: 'STORE_VERSION',
    })
  })
})

describe('the journal', () => {
  it('is rotated; a process that has missed more than it contains loads the store again', async () => {
    const [one, idle] = [await open(), await open()]
    await one.ready()
    await idle.store.counts()
    for (let i = 0; i < 3200; i++) {
      if (i % 100 === 0) await one.enqueue([aRun(`r${i}`, { dueAt: t0 + i })])
      else await one.store.heartbeat({ worker: 'none', now: t0, leaseMs: 1 })
    }
    expect(files('journal').length).toBe(2)
    expect((await idle.store.counts()).pending).toBe(32)
    const [claim] = await idle.claim('w', t0 + minute, { slots: 1 })
    expect(claim?.run).toBe(aRun('r0').id)
    expect((await one.store.counts()).running).toBe(1)
  }, 60_000)

  it('a worker that has been gone for long is forgotten when a segment ends', async () => {
    const stage = await open()
    await stage.worker('old')
    await stage.store.retire({ worker: 'old', now: t0 })
    for (let i = 0; i < 1001; i++)
      await stage.store.heartbeat({ worker: 'none', now: t0 + 25 * 60 * minute, leaseMs: 1 })
    expect(files('workers')).toEqual([])
  })

  it('nothing is written if nothing changes', async () => {
    const stage = await open()
    await stage.ready()
    const before = snapshot()
    await stage.claim('w', t0 + minute)
    await stage.store.expire({ now: t0, deadline: t0, limit: 9 })
    expect(snapshot()).toEqual(before)
  })
})

async function open(): Promise<Stage> {
  const store = await openFilesStore({ path, durability: 'normal', clock: systemClock })
  opened.push(store)
  return new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
}

async function reopen(stage: Stage): Promise<Stage> {
  await stage.store.close()
  return await open()
}

function read(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(path, file), 'utf8')) as Record<string, unknown>
}

function write(file: string, value: unknown): void {
  writeFileSync(join(path, file), JSON.stringify(value))
}

function files(folder: string): string[] {
  return readdirSync(join(path, folder)).toSorted()
}

function snapshot(): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((entry) => `${entry} ${statSync(join(path, entry)).mtimeMs}`)
}

async function faultsOf(stage: Stage, now = systemClock.now()): Promise<readonly string[]> {
  const { faults, warnings = [] } = await stage.store.health({ now })
  return [...faults, ...warnings.map(({ message }) => message)]
}
