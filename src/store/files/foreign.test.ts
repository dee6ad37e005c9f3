import {
  chownSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planRunId } from '../../kernel/identity/occurrence.js'
import type { Clock } from '../../time/clock.js'
import { systemClock } from '../../time/clock.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { aJob, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import type { Store } from '../port.js'
import { openFilesStore } from './files-store.js'

let path: string
const opened: Store[] = []

beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'rota-foreign-'))
  await (await openAt(t0)).store.close()
})

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  rmSync(path, { recursive: true })
})

const name = '20260105T000000Z_96b0037ff184.json'
const id = planRunId('96b0037ff184', t0)
const foreign = {
  schema_version: 'v1',
  job_id: '96b0037ff184',
  scheduled_for: '2026-01-05T00:00:00Z',
  pipeline_path: 'pipeline.web.yml',
  run_id: 'morning_20260105_0700_96b0037ff184',
  params: { topic_seed: 'x' },
}
const held = { ...foreign, status: 'running', attempts: 2, colour: 'blue' }

describe('a file of another program in running', () => {
  it('Q7: belongs to its program until its lease ends; then a claim is the next attempt of its run', async () => {
    write('running', { ...held, lease_until: formatInstant(t0 + minute) })
    const early = await openAt(t0 + minute - 1)
    expect(await early.store.run(id)).toBeUndefined()
    expect(files('running')).toEqual([name])
    expect(await faultsAt(early, t0 + minute - 1)).toEqual([])
    const late = await openAt(t0 + minute)
    expect(files('running')).toEqual([])
    expect(read('pending')).toMatchObject({ status: 'pending', attempts: 2, colour: 'blue' })
    const claim = await late.claimOne('w', t0 + minute)
    expect(claim).toMatchObject({ run: id, attempt: 3, crashes: 1, payload: { params: { topic_seed: 'x' } } })
    expect(await late.store.attempts(id)).toMatchObject([
      { attempt: 2, end: 'lost', endedAt: t0 + minute },
      { attempt: 3, end: undefined },
    ])
    expect(await late.finish('w', claim, { outcome: outcomes.done, at: t0 + 2 * minute })).toBe('stored')
    expect([files('done'), files('running'), files('pending')]).toEqual([[name], [], []])
  })

  it('Q7: without a lease belongs to its program for 30 s after the file was written', async () => {
    write('running', { ...held, attempts: undefined })
    touch('running', t0)
    expect(await (await openAt(t0 + 29_999)).store.run(id)).toBeUndefined()
    const late = await openAt(t0 + 30_000)
    expect(await late.run(id)).toMatchObject({ state: 'pending', attempt: 1 })
  })

  it('Q7: is reclaimed once, whichever process scans, with a warning', async () => {
    write('running', { ...held, lease_until: formatInstant(t0) })
    const [one, two] = [await openAt(t0 + 1), await openAt(t0 + 1)]
    expect((await one.store.counts()).pending).toBe(1)
    expect((await two.store.counts()).pending).toBe(1)
    expect(await faultsAt(one, t0 + 1)).toEqual([
      `running/${name} was abandoned by another program, so its run ${id} was reclaimed`,
    ])
    expect((await two.store.attempts(id)).length).toBe(1)
  })

  it.each(['pending', 'done', 'failed'])(
    'Q7: stays where it is while %s has a file of that name',
    async (other) => {
      write('running', { ...held, lease_until: formatInstant(t0) })
      // Something that is not a run, so that only its name conflicts.
      writeFileSync(join(path, other, name), 'mine')
      const stage = await openAt(t0 + minute)
      expect(readFileSync(join(path, other, name), 'utf8')).toBe('mine')
      expect(files('running')).toEqual([name])
      expect(await stage.store.run(id)).toBeUndefined()
      expect(await faultsAt(stage, t0 + minute)).toContainEqual(
        `running/${name} also exists in ${other}; left in place`,
      )
    },
  )
})

describe('a file in pending that is not a run', () => {
  it('Q7: is moved to failed unchanged by the process that expires workers, with the reason beside it', async () => {
    writeFileSync(join(path, 'pending', name), '{ "torn')
    writeFileSync(join(path, 'pending', 'readme.txt'), 'mine')
    touch('pending', t0)
    const early = await openAt(t0 + minute - 1)
    await early.store.expire({ now: t0, deadline: 0, limit: 10 })
    expect(files('pending')).toEqual([name, 'readme.txt'])
    const late = await openAt(t0 + minute)
    // A scan for new files moves nothing.
    await late.store.expire({ now: t0, deadline: 0, limit: 0 })
    expect(files('pending')).toEqual([name, 'readme.txt'])
    await late.store.expire({ now: t0, deadline: 0, limit: 10 })
    const beside = name.replace('.json', '.error.json')
    expect([files('pending'), files('failed')]).toEqual([['readme.txt'], [beside, name]])
    expect(readFileSync(join(path, 'failed', name), 'utf8')).toBe('{ "torn')
    expect(JSON.parse(readFileSync(join(path, 'failed', beside), 'utf8'))).toMatchObject({
      schema_version: 'v1',
      code: 'job_invalid',
      message: `pending/${name} is not JSON`,
      failed_at: formatInstant(t0 + minute),
    })
    expect(await faultsAt(late, t0 + minute)).toEqual([
      'pending/readme.txt is not named like a run; it is ignored',
      `pending/${name} is not JSON; it was moved to failed/`,
    ])
    // A later scan finds nothing wrong with it.
    expect(await faultsAt(await openAt(t0 + minute), t0 + minute)).toEqual([
      'pending/readme.txt is not named like a run; it is ignored',
    ])
  })

  it('Q7: stays where it is while failed contains a file with its name', async () => {
    writeFileSync(join(path, 'pending', name), '{ "torn')
    writeFileSync(join(path, 'failed', name), 'mine')
    touch('pending', t0)
    const stage = await openAt(t0 + minute)
    await stage.store.expire({ now: t0, deadline: 0, limit: 10 })
    expect(readFileSync(join(path, 'failed', name), 'utf8')).toBe('mine')
    expect(files('pending')).toEqual([name])
  })
})

describe.each(['pending', 'running'] as const)('a bad file in %s', (folder) => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const made = (extra: object): string => JSON.stringify({ ...foreign, ...extra })

  it.each<[string, string | Buffer, string]>([
    ['bytes that are not text', Buffer.from([0x7b, 0xff, 0x00, 0x7d]), 'is not JSON'],
    ['half of it', '{"schema_version":"v1",', 'is not JSON'],
    ['a list', '[]', 'is not a JSON object'],
    ['more than a megabyte', made({ params: { text: 'x'.repeat(1_048_576) } }), 'is larger than 1024 KiB'],
    [
      'more params than a run may have',
      made({ params: { text: 'x'.repeat(300_000) } }),
      'bytes of JSON are too many',
    ],
    ['deep params', `${made({}).slice(0, -1)},"params":{"a":${nested(100_000)}}}`, 'deeper than 100 levels'],
    [
      'a deep key of its own',
      `${made({}).slice(0, -1)},"other":${nested(100_000)}}`,
      'deeper than 100 levels',
    ],
    ['params that are a list', made({ params: [1] }), 'has params that are not a map'],
    [
      'an integer that would be rounded',
      `${made({}).slice(0, -1)},"chat":12345678901234567890}`,
      'cannot be stored: the integer 12345678901234567890 would be rounded',
    ],
    ['params that are a text', made({ params: 'x' }), 'has params that are not a map'],
    ['no count of attempts', made({ attempts: -1 }), 'has attempts that are not a count'],
    ['attempts beyond all counting', made({ attempts: 2 ** 53 - 1 }), 'has attempts that are not a count'],
    [
      'half a character in its id',
      made({ job_id: '96b\ud800' }),
      'has a job_id that cannot be part of a file name',
    ],
    [
      'another id',
      made({ job_id: '../../96b0037ff184' }),
      'should be named 20260105T000000Z_..%2F..%2F96b0037ff184.json',
    ],
    [
      'an id that is a prototype',
      made({ job_id: '__proto__' }),
      'should be named 20260105T000000Z___proto__.json',
    ],
    [
      'an invalid instant',
      made({ scheduled_for: '2026-02-30T00:00:00Z' }),
      'scheduled_for that is not an instant',
    ],
    ['the keys of a run of Rota', made({ rota: {} }), 'was written by Rota and changed since'],
  ])('Q1: with %s is reported after a minute, and never changed', async (_, text, fault) => {
    writeFileSync(join(path, folder, name), text)
    touch(folder, t0)
    const stage = await openAt(t0 + 2 * minute)
    const now = t0 + 2 * minute
    expect(await faultsAt(stage, now)).toEqual([expect.stringContaining(fault)])
    expect(readFileSync(join(path, folder, name)).equals(Buffer.from(text))).toBe(true)
    expect(await stage.store.counts()).toMatchObject({ pending: 0, running: 0 })
    // Other runs are not affected.
    expect(await stage.claim('w', now)).toEqual([])
  })

  it('Q1: that is a link or a directory is reported, and not followed', async () => {
    const elsewhere = join(path, 'elsewhere.json')
    writeFileSync(elsewhere, JSON.stringify(foreign))
    symlinkSync(elsewhere, join(path, folder, name))
    const stage = await openAt(systemClock.now() + 2 * minute)
    expect(await faultsAt(stage, systemClock.now() + 2 * minute)).toEqual([
      expect.stringContaining(`${folder}/${name} is a symbolic link`),
    ])
    expect(readFileSync(elsewhere, 'utf8')).toBe(JSON.stringify(foreign))
    expect((await stage.store.counts()).pending).toBe(0)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'Q1: of another user is reported, and not taken (only root can make one)',
    async () => {
      write(folder, { ...held, lease_until: formatInstant(t0) })
      touch(folder, t0)
      chownSync(join(path, folder, name), 65_534, 65_534)
      const stage = await openAt(t0 + 2 * minute)
      expect(await faultsAt(stage, t0 + 2 * minute)).toEqual([
        `${folder}/${name} belongs to another user; left in place`,
      ])
      expect(await stage.store.run(id)).toBeUndefined()
      expect(files(folder)).toEqual([name])
    },
  )

  it('Q1: keeps keys and params that are named like prototype properties', async () => {
    const text = `${JSON.stringify({ ...held, lease_until: formatInstant(t0) }).slice(0, -1)},"params":{"__proto__":{"a":1},"constructor":2},"__proto__":{"polluted":true},"toString":3}`
    writeFileSync(join(path, folder, name), text)
    const stage = await openAt(t0 + minute)
    const claim = await stage.claimOne('w', t0 + minute)
    expect(JSON.stringify(claim.payload)).toContain('"params":{"__proto__":{"a":1},"constructor":2}')
    expect(readFileSync(join(path, 'running', name), 'utf8')).toContain(
      '"__proto__":{"polluted":true},"toString":3',
    )
    expect({}).not.toHaveProperty('polluted')
  })
})

/** A store whose wall clock stands still, after its first scan of the folders. */
async function openAt(now: Instant): Promise<Stage> {
  const clock: Clock = { ...systemClock, now: () => now }
  const store = await openFilesStore({ path, durability: 'normal', clock })
  opened.push(store)
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  await stage.jobs([aJob('pipeline')])
  await stage.worker('w', now)
  return stage
}

function write(folder: string, value: object): void {
  writeFileSync(join(path, folder, name), JSON.stringify(value))
}

function touch(folder: string, at: Instant): void {
  utimesSync(join(path, folder, name), at / 1000, at / 1000)
}

function read(folder: string): unknown {
  return JSON.parse(readFileSync(join(path, folder, name), 'utf8'))
}

function files(folder: string): string[] {
  return readdirSync(join(path, folder)).toSorted()
}

async function faultsAt(stage: Stage, now: Instant): Promise<readonly string[]> {
  const { faults, warnings = [] } = await stage.store.health({ now })
  // Files of others are never damage.
  expect(faults).toEqual([])
  return warnings.map(({ message }) => message)
}
