import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../src/app/rota.js'
import type { EngineEvents } from '../src/app/public-types.js'
import type { EventName } from '../src/engine/events.js'
import { coverageOf } from '../src/engine/explain/coverage.js'
import { isComplete } from '../src/kernel/ledger/coverage.js'
import type { StoredTrigger } from '../src/kernel/trigger/trigger.js'
import { realDisk, type Disk } from '../src/store/files/disk.js'
import { openFilesStore } from '../src/store/files/files-store.js'
import { minute, second, Stage, Work } from './fixtures/engine-stage.js'
import { kinds } from './fixtures/feature-parts.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-trouble-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

function next<Name extends EventName>(app: Rota, name: Name): Promise<EngineEvents[Name]> {
  return new Promise((resolve) => {
    const end = app.on(name, (event) => {
      end()
      resolve(event)
    })
  })
}

describe('a SQLite store that cannot write', () => {
  /** An app with a run every second, and a second connection that breaks and repairs the database. */
  async function started() {
    const path = join(directory, 'rota.db')
    const app = rota({ store: `sqlite:${path}`, durability: 'normal' })
    app.job('work', () => 'worked')
    app.schedule('often', { cron: '* * * * * *', job: 'work' })
    await app.start()
    const db = new DatabaseSync(path)
    onTestFinished(async () => {
      db.close()
      await app.stop({ grace: 0 })
    })
    const breakAt = (place: string): void =>
      db.exec(`create trigger fault before ${place} begin select raise(abort, 'broken on purpose'); end`)
    return { app, breakAt, mend: () => db.exec('drop trigger fault') }
  }

  it('N12: acknowledges nothing that it has not saved, and the scheduler continues when it can save', async () => {
    const { app, breakAt, mend } = await started()
    await next(app, 'run:ended')
    breakAt('insert on runs')
    const before = (await app.runs.list({ limit: 1000 })).length
    await expect(app.enqueue('work')).rejects.toThrow('broken on purpose')
    expect(await next(app, 'trouble')).toMatchObject({ where: 'scheduler' })
    expect((await app.runs.list({ limit: 1000 })).length).toBe(before)
    mend()
    await next(app, 'run:ended')
    expect((await app.coverage({ trigger: 'often' })).map(isComplete)).toEqual([true])
  })

  it('N12: rejects a definition that was not saved, and it does not exist', async () => {
    const { app, breakAt, mend } = await started()
    breakAt('insert on triggers')
    const later = { every: '1h', job: 'work' }
    await expect(app.triggers.add({ later })).rejects.toThrow('broken on purpose')
    expect((await app.triggers.list()).map(({ trigger }) => trigger.name)).toEqual(['often'])
    await next(app, 'run:ended')
    mend()
    await app.triggers.add({ later })
    expect((await app.triggers.list()).map(({ trigger }) => trigger.name)).toEqual(['later', 'often'])
  })

  it('N12: reports the end of a run only when it is saved, and performs nothing twice', async () => {
    const { app, breakAt, mend } = await started()
    breakAt('update on runs when new.result is not null')
    const ended: string[] = []
    app.on('run:ended', ({ run }) => ended.push(run))
    const { id } = await app.enqueue('work')
    expect(await next(app, 'trouble')).toMatchObject({ where: 'worker' })
    expect(ended).toEqual([])
    mend()
    expect(await app.runs.wait(id)).toMatchObject({ state: 'done', attempt: 1, result: 'worked' })
    expect(ended.filter((run) => run === id)).toEqual([id])
  })
})

describe('a file store on a full disk', () => {
  it('N12: changes nothing, stops nothing, and continues automatically when there is space', async () => {
    const full = { is: false }
    const disk: Disk = {
      ...realDisk,
      write(file, data, position) {
        if (!full.is) return realDisk.write(file, data, position)
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })
      },
    }
    const stage = new Stage()
    const store = await openFilesStore({ path: directory, clock: stage.clock, disk, durability: 'normal' })
    onTestFinished(() => store.close())
    const work = new Work()
    const process = await stage.process({
      store,
      jobs: { work: work.handler },
      triggers: { t: { cron: '* * * * *', overlap: 'allow' } },
    })
    await stage.pass(minute)
    expect(work.begun.length).toBe(1)
    full.is = true
    await work.end(0, { value: 'worked' })
    await stage.pass(10 * second)
    expect(process.of('run:ended')).toEqual([])
    expect(process.of('fatal')).toEqual([])
    const codes = process.of('trouble').map(({ error }) => (error as { code?: string }).code)
    expect(new Set(codes)).toEqual(new Set(['STORE_FULL']))
    expect(await store.run(work.begun[0]?.id ?? '')).toMatchObject({ state: 'running' })
    full.is = false
    await stage.pass(2 * minute)
    expect(process.of('run:ended').map(({ run, state }) => ({ run, state }))).toEqual([
      { run: work.begun[0]?.id, state: 'done' },
    ])
    expect(work.begun.length).toBe(3)
    const [trigger] = await store.triggers()
    expect(isComplete(await coverageOf(store, trigger as StoredTrigger, { kinds }))).toBe(true)
  })
})

const script = fileURLToPath(new URL('fixtures/full-disk.mjs', import.meta.url))

/** A disk of a few megabytes at a directory, which exists only for the command. */
function onSmallDisk(mountPoint: string, command: readonly string[]): [string, readonly string[]] {
  const mount = `mount -t tmpfs -o size=4m tmpfs '${mountPoint}' && exec "$@"`
  return ['unshare', ['-rm', 'sh', '-c', mount, 'sh', ...command]]
}

const canMount = spawnSync(...onSmallDisk(tmpdir(), ['true'])).status === 0

it.skipIf(!canMount)(
  'N12: while a real disk is full for longer than a lease, what runs goes on, and nothing is performed twice',
  async () => {
    const answers = [
      ['files', 'data'],
      ['sqlite', 'rota.db'],
    ].map(async ([scheme, name = '']) => {
      const path = join(directory, name)
      const command = onSmallDisk(directory, [process.execPath, script, `${scheme}:${path}`, path])
      const env = { ...process.env, XDG_STATE_HOME: directory }
      const { stdout } = await promisify(execFile)(...command, { env })
      return JSON.parse(stdout) as unknown
    })
    const untouched = { expired: 0, lost: 0, fatal: [], twice: 0, broken: 0 }
    const expected = { ...untouched, troubles: ['STORE_FULL'], slow: { state: 'done', attempt: 1 } }
    expect(await Promise.all(answers)).toEqual([expected, expected])
  },
  60_000,
)
