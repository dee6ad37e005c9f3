import { execFileSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { root } from '../../../../test/repository.js'
import { emptyDirectory, rota, type Ended } from '../../../../test/cli/rota.js'

let cwd: string

beforeEach(() => {
  cwd = emptyDirectory()
  cpSync(join(root, 'examples/plans'), cwd, { recursive: true })
})

async function run(...args: string[]): Promise<Ended> {
  return await rota(args, { cwd, env: { SCHEDULER_ENABLED: '1', WORKER_ENABLED: '1' } })
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const plan = (entry: string): string => `schema_version: v1\nentries:\n  - ${entry}\n`
const entry = (extra: string): string => `{ publish_at: 2026-01-05T09:00, ${extra} }`

describe.skipIf(process.platform === 'win32')('an endless file', () => {
  it.each([
    ['schedule --plan', 'schedule --plan zero', 'a device'],
    ['plan check', 'plan check pipe', 'a pipe'],
  ])('is refused at once for %s', async (_, line, kind) => {
    symlinkSync('/dev/zero', join(cwd, 'zero'))
    execFileSync('mkfifo', ['pipe'], { cwd })
    const ended = await run(...line.split(' '))
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(`it is ${kind}, not a file`)
  })
})

describe('a bad plan', () => {
  it.each<[string, string | Buffer, string]>([
    [
      'bytes that are no text',
      Buffer.from([0x61, 0x3a, 0x20, 0xff]),
      'plan.yaml:1:4: not UTF-8: the byte 0xff',
    ],
    ['nine megabytes', `# ${'x'.repeat(9_000_000)}`, 'at most 8388608'],
    ['a hundred thousand levels', `entries: ${deep(100_000)}`, 'deeper than 64 levels'],
    ['aliases of aliases', bomb(), 'plan.yaml:'],
    [
      'a prototype as an option',
      plan(entry('pipeline_path: a, __proto__: { x: 1 }')),
      '__proto__: unknown option',
    ],
    [
      'a constructor as an option',
      plan(entry('pipeline_path: a, constructor: 1')),
      'constructor: unknown option',
    ],
    [
      'a path that leaves the directory',
      plan(entry('pipeline_path: ../a.yml')),
      'leaves the directory with ..',
    ],
    ['a path in an id', plan(entry('pipeline_path: a, run_id_prefix: ../../x')), 'is not a prefix'],
    ['an end of line in an id', plan(entry('pipeline_path: a, run_id_prefix: "x\\ny"')), 'is not a prefix'],
    [
      'params that are too large',
      plan(entry(`pipeline_path: a, params: { x: ${'y'.repeat(300_000)} }`)),
      'too many',
    ],
  ])('Q2: with %s is refused with its place, and nothing is made', async (_, text, fault) => {
    writeFileSync(join(cwd, 'plan.yaml'), text)
    const ended = await run('schedule', '--plan', 'plan.yaml')
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('plan.yaml')
    expect(ended.stderr).toContain(fault)
    expect(ended.stderr.length).toBeLessThan(5000)
    expect(existsSync(join(cwd, 'data'))).toBe(false)
    expect(existsSync(join(cwd, 'output'))).toBe(false)
  })
})

describe('a bad pipeline', () => {
  const name = '20260105T020000Z_96b0037ff184.json'

  it.each<[string, string, string | Buffer | undefined, string]>([
    ['bytes that are no text', 'bad.yml', Buffer.from([0xff, 0xfe]), 'bad.yml:1:1: it is UTF-16'],
    ['two megabytes', 'bad.yml', `# ${'x'.repeat(2_000_000)}`, 'at most 1048576'],
    ['a hundred thousand levels', 'bad.yml', deep(100_000), 'deeper than 64 levels'],
    [
      'a prototype as an option',
      'bad.yml',
      'steps: [{ uses: a, __proto__: 1 }]',
      '__proto__: unknown option',
    ],
    ['no file', 'bad.yml', undefined, 'there is no such file'],
    ['a path that leaves the directory', '../../etc/passwd', undefined, 'leaves the directory with ..'],
    ['a path of the whole disk', '/etc/passwd', undefined, 'is absolute'],
    ['a path with a null', 'a\u0000b', undefined, 'contains a control character'],
  ])('Q9: with %s fails its run alone, as job_invalid', async (_, path, text, fault) => {
    if (text !== undefined) writeFileSync(join(cwd, path), text)
    put(name, { pipeline_path: path })
    const ended = await run('work', '--json')
    expect(ended.code).toBe(1)
    const { error } = JSON.parse(ended.stdout)
    expect(error).toMatchObject({ code: 'job_invalid', message: expect.stringContaining(fault) })
    const file = JSON.parse(readFileSync(join(cwd, 'data/queue/failed', name), 'utf8'))
    expect(file.last_error).toMatchObject({ code: 'job_invalid' })
    expect((await run('work', '--json')).code).toBe(0)
  })
})

describe('a bad queue', () => {
  it('Q13: that is a link, or contains a linked directory, is refused with 3, and nothing is created', async () => {
    mkdirSync(join(cwd, 'elsewhere'))
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'link'))
    mkdirSync(join(cwd, 'queue'))
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'queue/running'))
    for (const queue of ['link', 'queue']) {
      const ended = await run('work', '--queue-dir', queue)
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('is a symbolic link') })
    }
    expect(readdirSync(join(cwd, 'elsewhere'))).toEqual([])
  })

  it.skipIf(process.getuid?.() !== 0)(
    'Q13: of another user is refused with 3, and nothing is made (only root can make one)',
    async () => {
      mkdirSync(join(cwd, 'queue/pending'), { recursive: true })
      chownSync(join(cwd, 'queue/pending'), 65_534, 65_534)
      const ended = await run('work', '--queue-dir', 'queue')
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('belongs to another user') })
      expect(readdirSync(join(cwd, 'queue'))).toEqual(['pending'])
    },
  )

  it.each(['10ms', '2d', 'soon', '-1s'])('Q13: is refused with a lease of %s', async (lease) => {
    expect((await run('work', '--lease', lease)).code).toBe(2)
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  })

  it.each(['../../etc/passwd', '__proto__', 'constructor'])(
    'Q8: has no run with the id %j, and says so',
    async (id) => {
      put('20260105T020000Z_96b0037ff184.json', { pipeline_path: 'pipeline.web.yml' })
      for (const action of ['show', 'retry']) {
        const ended = await run('queue', action, id)
        expect(ended.code).not.toBe(0)
        expect(ended.stderr).toContain('no run of the queue has the id')
        // Typed control characters must not reach the terminal.
        expect(ended.stderr).not.toContain('\u001b[31mb')
      }
      expect(readdirSync(join(cwd, 'data/queue/pending')).length).toBe(1)
    },
  )
})

/** Puts a run into pending as another program does. */
function put(name: string, extra: object): void {
  const folder = join(cwd, 'data/queue/pending')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = {
    schema_version: 'v1',
    job_id: '96b0037ff184',
    scheduled_for: '2026-01-05T02:00:00Z',
    run_id: 'x',
    ...extra,
  }
  writeFileSync(join(folder, name), JSON.stringify(file))
}

/** Ten levels of ten aliases each: a few lines of text that stand for ten billion values. */
function bomb(): string {
  const levels = Array.from({ length: 10 }, (_, i) => {
    const items =
      i === 0
        ? 'x'
        : Array(10)
            .fill(`*l${i - 1}`)
            .join(', ')
    return `l${i}: &l${i} [${items}]`
  })
  return `schema_version: v1\nentries: []\n${levels.join('\n')}\n`
}
