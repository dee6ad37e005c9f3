import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../testing/fake-clock.js'
import { createApp, type App } from '../../../app/rota.js'

const recurring =
  '{"id":"job_123","type":"recurring","schedule":"0 9 * * *","command":"check_status","user_id":"user1","metadata":{},"executed":false,"executed_at":null}'
const oneShot =
  '{"id":"job_124","type":"oneshot","execute_at":"2026-01-05T09:00:00Z","command":"remind","user_id":"user1","metadata":{"chat":"42"},"executed":false,"executed_at":null}'
const executed =
  '{"id":"job_125","type":"oneshot","execute_at":"2026-01-05T09:00:00Z","command":"remind","user_id":"user1","metadata":{"chat":"42"},"executed":true,"executed_at":"2026-01-05T09:00:02.143Z"}'
const extra = `${recurring.replace('job_123', 'job_126').slice(0, -1)},"priority":5,"__proto__":{"x":1}}`

let directory: string
let clock: FakeClock
let app: App

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-import-'))
  clock = new FakeClock(Date.UTC(2026, 0, 4))
  app = createApp({ store: 'memory:', directory, clock }, 'code:test')
})

function write(text: string | Buffer): string {
  writeFileSync(join(directory, 'in.jsonl'), text)
  return 'in.jsonl'
}

/** The result for each line, as `line id became`. */
async function imported(
  text: string | Buffer,
  options: Parameters<App['commands']['import']>[1] = {},
): Promise<string[]> {
  const lines = await app.commands.import(write(text), options)
  return lines.map(({ line, id, became }) => `${line} ${id ?? '-'} ${became}`)
}

describe('import and export', () => {
  it('N4: imported jobs are exported byte for byte, including executed ones and unknown fields', async () => {
    const text = `${recurring}\n${oneShot}\n${executed}\n${extra}\n`
    expect(await imported(text)).toEqual([
      '1 job_123 added',
      '2 job_124 added',
      '3 job_125 executed',
      '4 job_126 added',
    ])
    expect(await app.commands.export()).toBe(text)
    expect((await app.commands.get('job_125')).state).toBe('executed')
    await app.close()
  })

  it('N4: importing again changes nothing, and a job that differs is a conflict', async () => {
    await imported(`${recurring}\n${oneShot}\n`)
    const before = await app.triggers.list()
    expect(await imported(`${oneShot.replace('remind', 'other')}\n${recurring}\n`)).toEqual([
      '1 job_124 conflict',
      '2 job_123 unchanged',
    ])
    expect(await app.triggers.list()).toEqual(before)
    await app.close()
  })

  it('N4: faulty lines are reported and skipped, the others are imported; strict imports none', async () => {
    const text = `\n${recurring}\nnonsense\n${oneShot.replace('"type":"oneshot",', '')}\n${oneShot}`
    await expect(app.commands.import(write(text), { strict: true })).rejects.toMatchObject({
      code: 'JOBS_INVALID',
      faults: [{ path: '3:2' }, { path: '4:1', message: 'type is missing' }],
    })
    expect(await app.commands.list()).toEqual([])
    expect(await imported(text, { dryRun: true })).toEqual(await imported(text, { dryRun: true }))
    expect(await app.commands.list()).toEqual([])
    expect(await imported(text)).toEqual(['2 job_123 added', '3 - faulty', '4 - faulty', '5 job_124 added'])
    expect((await app.commands.list()).map(({ id }) => id)).toEqual(['job_123', 'job_124'])
    expect(readFileSync(join(directory, 'in.jsonl'), 'utf8')).toBe(text)
    await app.close()
  })

  it('N4: a file that is missing, a directory, or binary is refused or reported, and nothing changes', async () => {
    await expect(app.commands.import('nowhere.jsonl')).rejects.toMatchObject({ code: 'JOBS_INVALID' })
    await expect(app.commands.import('.')).rejects.toMatchObject({ code: 'JOBS_INVALID' })
    expect(await imported(Buffer.from([0, 255, 10, 1, 2, 3]))).toEqual(['1 - faulty', '2 - faulty'])
    expect(await imported('')).toEqual([])
    expect(await app.commands.list()).toEqual([])
    await app.close()
  })

  it('N4: a line that marks a waiting job as executed is a conflict; a line without the mark of an executed job changes nothing', async () => {
    await imported(`${executed.replace('"executed":true', '"executed":false')}\n`)
    expect(await imported(`${executed}\n`)).toEqual(['1 job_125 conflict'])
    expect((await app.commands.get('job_125')).state).toBe('scheduled')
    await app.commands.remove('job_125')
    await imported(`${executed}\n`)
    expect(await imported(`${executed.replace('"executed":true', '"executed":false')}\n`)).toEqual([
      '1 job_125 unchanged',
    ])
    await app.close()
  })

  it.skipIf(process.platform === 'win32')('N4: a file that never ends is refused', async () => {
    await expect(app.commands.import('/dev/zero')).rejects.toMatchObject({
      code: 'JOBS_INVALID',
      message: '/dev/zero cannot be read: it is a device, not a file',
    })
    await app.close()
  })

  it('N4: an imported one-shot that was already executed does not run again', async () => {
    const taken: string[] = []
    clock = new FakeClock(Date.UTC(2026, 0, 5, 10))
    app = createApp({ store: 'memory:', directory, clock }, 'code:test')
    app.commands.handle(({ task }) => void taken.push(task.id))
    await app.start()
    await imported(`${oneShot}\n${executed}\n`)
    await clock.advance(60_000)
    expect(taken).toEqual([`cron_job_124_${Date.UTC(2026, 0, 5, 9)}`])
    expect(await app.commands.export()).toContain(executed)
    await app.stop({ grace: 0 })
  })

  it('N4: a command runs in a shell only if it was imported with that option', async () => {
    const out = join(directory, 'out.txt')
    const at = '"execute_at":"2026-01-03T00:00:00Z"'
    const line = (id: string): string =>
      JSON.stringify({
        id,
        type: 'oneshot',
        execute_at: '2026-01-03T00:00:00Z',
        command: `echo "$ROTA_TRIGGER" >> ${out}`,
      })
    expect(line('a')).toContain(at)
    await app.start()
    await imported(line('plain'))
    await imported(line('shell'), { shell: true })
    const ended = async (id: string): Promise<boolean> => (await app.commands.get(id)).state === 'executed'
    while (!(await ended('plain')) || !(await ended('shell'))) await clock.advance(10)
    expect((await app.runs.list({ trigger: 'plain' }))[0]?.error?.code).toBe('COMMAND_UNKNOWN')
    expect((await app.runs.list({ trigger: 'shell' }))[0]?.state).toBe('done')
    expect(readFileSync(out, 'utf8').trim().split('\n').length).toBe(1)
    expect((await app.commands.get('shell')).isShell).toBe(true)
    await app.stop({ grace: 0 })
  })

  it('N4: a file store imports known fields only, and appends the lines to its own file', async () => {
    const store = createApp({ store: 'files:data', directory, durability: 'normal' }, 'api')
    write(`${recurring}\n${extra}\n`)
    const lines = await store.commands.import('in.jsonl')
    expect(lines.map(({ became }) => became)).toEqual(['added', 'faulty'])
    expect(readFileSync(join(directory, 'data/jobs.jsonl'), 'utf8')).toBe(`${recurring}\n`)
    await expect(store.commands.import('data/jobs.jsonl')).rejects.toMatchObject({ code: 'JOBS_INVALID' })
    expect(await store.commands.export()).toBe(`${recurring}\n`)
    await store.close()
    await app.close()
  })
})
