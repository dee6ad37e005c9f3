import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { RotaError } from '../../kernel/definition/errors.js'
import { configSections } from '../../app/definitions/load-app.js'
import { loadConfig as loadWith, type LoadedConfig } from './config-file.js'
import { configNames, findConfig } from './find-config.js'

let directory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'rota-config-')), 'my app')
  mkdirSync(directory)
})

const loadConfig = (path: string): Promise<LoadedConfig> => loadWith(path, configSections)

function write(name: string, text: string | Buffer): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

async function load(name: string, text: string): Promise<Extract<LoadedConfig, { kind: 'config' }>> {
  const loaded = await loadConfig(write(name, text))
  if (loaded.kind !== 'config') throw new Error('a config was expected')
  return loaded
}

/** The lines of the error for a config, without the one that names the file. */
async function faultsOf(name: string, text: string | Buffer): Promise<string[]> {
  try {
    await loadConfig(write(name, text))
  } catch (error) {
    expect(error).toBeInstanceOf(RotaError)
    expect((error as RotaError).code).toBe('CONFIG_INVALID')
    const [first, ...lines] = (error as RotaError).message.split('\n')
    expect(first).toContain(join(directory, name))
    return lines.map((line) => line.trim())
  }
  return []
}

const full = `
app: demo
store: sqlite:data/rota.db
concurrency: 10
lease: 30s
retention: 30d
durability: normal
queues: { mail: { concurrency: 5 } }
jobs:
  greet: { command: ["node", "-e", "console.log('hi')"], retry: { attempts: 5, delay: 1s }, timeout: 10m }
  ping:
    http: { url: "https://example.org/", headers: { accept: text/plain } }
    queue: mail
triggers:
  nightly: { job: greet, cron: "0 2 * * *", timezone: America/New_York, dst: skip, partition: previous-day }
  often: { job: ping, every: 15m, catchUp: { mode: skip, grace: 5s }, payload: [1, null] }
  once: { job: ping, at: 2026-01-05T09:00 }
`

describe('a config in YAML', () => {
  it('is read into settings and frozen definitions', async () => {
    const { config, where } = await load('rota.config.yaml', full)
    expect(config).toMatchObject({
      app: 'demo',
      store: 'sqlite:data/rota.db',
      settings: {
        concurrency: 10,
        leaseMs: 30_000,
        retentionMs: 30 * 86_400_000,
        durability: 'normal',
        queues: [{ name: 'mail', concurrency: 5 }],
      },
      definitions: {
        jobs: [
          { job: { name: 'greet', timeoutMs: 600_000, retry: { attempts: 5, delayMs: 1000 } } },
          { job: { name: 'ping', queue: 'mail', handler: { kind: 'http', url: 'https://example.org/' } } },
        ],
        triggers: [
          { trigger: { name: 'nightly', job: 'greet', partition: 'previous-day', overlap: 'queue-all' } },
          { trigger: { name: 'often', payload: [1, null], catchUp: { mode: 'skip', graceMs: 5000 } } },
          { trigger: { name: 'once', schedule: { kind: 'once', at: Date.UTC(2026, 0, 5, 9) } } },
        ],
      },
    })
    const { jobs = [], triggers = [] } = config.definitions
    expect(jobs.every(({ job }) => Object.isFrozen(job))).toBe(true)
    expect(triggers.every(({ trigger }) => Object.isFrozen(trigger))).toBe(true)
    expect(where(['triggers', 'often', 'every'])).toBe('rota.config.yaml:16:23')
    expect(where(['jobs', 'greet', 'command', 1])).toBe('rota.config.yaml:10:30')
    expect(where(['jobs', 'ping', 'queue', 'deeper'])).toBe('rota.config.yaml:13:5')
  })

  it('may have empty maps, and is then named after its directory or package', async () => {
    expect((await load('rota.config.yaml', '{}')).config).toMatchObject({
      app: 'my-app',
      store: undefined,
      settings: { concurrency: 10, leaseMs: 30_000, durability: 'full', offerAfterMs: 5000, queues: [] },
      steps: new Map(),
      definitions: { jobs: [], triggers: [] },
      sections: [],
    })
    write('package.json', '{"name":"@team/tool"}')
    expect((await load('rota.config.yaml', '{}')).config.app).toBe('team/tool')
    write('../package.json', '{"name":"whole"}')
    write('package.json', '{"type":"module"}')
    expect((await load('rota.config.yaml', '{}')).config.app).toBe('whole')
    rmSync(join(directory, '..', 'package.json'))
    write('package.json', '{broken')
    expect((await load('rota.config.yaml', '{}')).config.app).toBe('my-app')
  })

  it('lists all faults at once, each where it was written, in the order of the file', async () => {
    const text = [
      'zone: Europe/Berlin',
      'store: data.db',
      'lease: 2h',
      'retention: 10s',
      'durability: ful',
      'jobs:',
      '  greet:',
      '    command: node x.js',
      '    retry: { attempts: 0, dely: 1s }',
      '  "a b": { command: ["true"] }',
      '  ping: { command: [true], http: { url: x } }',
      'triggers:',
      '  nightly: { job: greet, cron: "0 25 * * *", timezone: EST }',
      '  none: { job: greet }',
      '  listed:',
      '    job: greet',
      '    every: 5 parsecs',
    ].join('\n')
    expect(
      (await faultsOf('rota.config.yml', text)).map((line) => line.replace(/ \(allowed: .*/, '')),
    ).toEqual([
      'rota.config.yml:1:1: zone: unknown option; did you mean timezone?',
      'rota.config.yml:2:1: store: "data.db" is not the address of a store',
      'rota.config.yml:3:1: lease: "2h" is too long',
      'rota.config.yml:4:1: retention: "10s" is too short',
      'rota.config.yml:5:1: durability: "ful" is not allowed; did you mean full?',
      'rota.config.yml:8:5: jobs.greet.command: "node x.js" is a single string, and no shell splits it',
      'rota.config.yml:9:14: jobs.greet.retry.attempts: 0 is not allowed',
      'rota.config.yml:9:27: jobs.greet.retry.dely: unknown option; did you mean delay?',
      'rota.config.yml:10:3: jobs.a b: "a b" is not a name',
      'rota.config.yml:11:3: jobs.ping: command and http cannot be combined',
      expect.stringMatching(/^rota\.config\.yml:13:26: triggers\.nightly\.cron: .*25/),
      'rota.config.yml:13:46: triggers.nightly.timezone: "EST" is not a time zone: abbreviations are not accepted; did you mean America/New_York?',
      'rota.config.yml:14:3: triggers.none: it has no schedule',
      expect.stringMatching(
        /^rota\.config\.yml:17:5: triggers\.listed\.every: "5 parsecs": a unit is missing/,
      ),
    ])
  })

  it('contains its faults as data, too', async () => {
    const path = write('rota.config.yaml', 'lease: 2h\n')
    await expect(loadConfig(path)).rejects.toThrow(
      expect.objectContaining({
        message: `${path} has a fault:\n  rota.config.yaml:1:1: lease: "2h" is too long (allowed: from 1s to 1h)`,
        faults: [
          {
            where: 'rota.config.yaml:1:1',
            path: 'lease',
            message: '"2h" is too long',
            allowed: 'from 1s to 1h',
          },
        ],
      }),
    )
  })

  it.each<[string, string, string[]]>([
    [
      'a key written twice',
      'jobs:\n  a: { command: ["x"] }\n  a: { command: "y" }',
      [
        'rota.config.yaml:3:3: duplicate key',
        'rota.config.yaml:3:8: jobs.a.command: "y" is a single string, and no shell splits it (allowed: a list of words such as ["node", "task.mjs"], or shell: with the text)',
      ],
    ],
    ['a tag', 'app: !!js/function "x"', ['rota.config.yaml:1:6: tags are not accepted']],
    ['a second document', 'app: a\n---\napp: b', ['rota.config.yaml:2:1: only one document is allowed']],
    ['broken syntax', 'app: a\njobs: {', [expect.stringMatching(/^rota\.config\.yaml:2:8: Flow map/)]],
    ['an unknown alias', 'app: *x', ['rota.config.yaml:1:6: no anchor before it is named &x']],
    ['nothing', '', ['rota.config.yaml:1:1: the file is empty']],
    ['only a comment', '# nothing\n', ['rota.config.yaml:1:1: the file is empty']],
    ['a list', '- app', ['rota.config.yaml:1:1: (whole): a map of options was expected, not a list']],
    [
      'jobs as a list',
      'jobs: [a]',
      ['rota.config.yaml:1:1: jobs: a map from names to definitions was expected, not a list'],
    ],
    [
      'a job without anything',
      'jobs:\n  a:',
      ['rota.config.yaml:2:3: jobs.a: a map of options was expected, not null'],
    ],
    [
      'a function',
      'jobs: { a: { handler: "() => 1" } }',
      [
        `rota.config.yaml:1:14: jobs.a.handler: "() => 1" is not a function (allowed: a function in code, or a module that exports one, such as { module: './jobs/report.mjs' })`,
      ],
    ],
    [
      'a prototype as a name',
      'jobs: { __proto__: { command: ["x"] } }',
      [expect.stringContaining('rota.config.yaml:1:9: jobs.__proto__: "__proto__" is not a name')],
    ],
    [
      'very many aliases',
      `a: &a x\nb: [${Array(101).fill('*a').join(', ')}]`,
      ['rota.config.yaml:2:405: more than 100 aliases'],
    ],
    [
      'brackets without end',
      '['.repeat(100_000),
      [expect.stringMatching(/^rota\.config\.yaml:1:\d\d: deeper than 64 levels$/)],
    ],
    [
      'dashes without end',
      '- '.repeat(100_000),
      [expect.stringMatching(/^rota\.config\.yaml:1:\d{2,3}: deeper than 64 levels$/)],
    ],
    [
      'aliases of aliases',
      [
        'a: &a [x, x, x, x, x, x, x, x]',
        ...'bcdef'
          .split('')
          .map((name, i) => `${name}: &${name} [${Array(8).fill(`*${'abcde'[i]}`).join(', ')}]`),
      ].join('\n'),
      ['rota.config.yaml:1:1: aliases of aliases expand to too much'],
    ],
  ])('is refused with %s', async (_, text, faults) => {
    expect(await faultsOf('rota.config.yaml', text)).toEqual(faults)
  })

  it('may use a handful of aliases, and a fault behind one is shown where it was written', async () => {
    const text = 'jobs:\n  a: &a { command: ["x"], retry: 0 }\n  b: *a'
    expect(await faultsOf('rota.config.yaml', text)).toEqual([
      'rota.config.yaml:2:27: jobs.a.retry: 0 is not allowed (allowed: a whole number from 1 to 1000)',
      'rota.config.yaml:2:27: jobs.b.retry: 0 is not allowed (allowed: a whole number from 1 to 1000)',
    ])
  })

  it('must be text of a bounded size', async () => {
    const large = write('rota.config.yaml', `# ${'x'.repeat(1_048_576)}\n{}`)
    await expect(loadConfig(large)).rejects.toThrow(`${large} cannot be read: 1048581 bytes, at most 1048576`)
    const binary = write('rota.config.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff]))
    await expect(loadConfig(binary)).rejects.toThrow('rota.config.yaml:1:4: not UTF-8: the byte 0xff')
  })
})

describe('a config in JSON', () => {
  it('is read with tabs, a byte order mark, and names of prototype properties', async () => {
    const text =
      '\ufeff{\n\t"jobs": {\n\t\t"constructor": { "command": ["x"] },\n\t\t"toString": { "command": ["y"] }\n\t}\n}\n'
    const { jobs = [] } = (await load('rota.config.json', text)).config.definitions
    expect(jobs.map(({ job }) => [job.name, job.handler])).toEqual([
      ['constructor', { kind: 'shell', argv: ['x'] }],
      ['toString', { kind: 'shell', argv: ['y'] }],
    ])
  })

  it.each<[string, string, string[]]>([
    [
      'a wrong value',
      '{\n  "concurrency": "ten"\n}',
      ['rota.config.json:2:3: concurrency: "ten" is not allowed (allowed: a whole number from 1 to 100000)'],
    ],
    ['a key written twice', '{\n  "app": "a",\n  "app": "b"\n}', ['rota.config.json:3:3: duplicate key']],
    [
      'an integer that would be rounded',
      '{ "jobs": { "a": { "command": ["x"] } }, "triggers": { "t": { "job": "a", "every": "1h",\n"payload": 12345678901234567890 } } }',
      [expect.stringContaining('rota.config.json:2:12: the integer 12345678901234567890 would be rounded')],
    ],
    [
      'a comma too many',
      '{\n  "app": "a",\n}',
      [expect.stringMatching(/^rota\.config\.json:3:1: not JSON: /)],
    ],
    [
      'a word',
      '{\n  "app": true,\n  "store": sqlite\n}',
      ["rota.config.json:3:12: not JSON: Unexpected token 's'"],
    ],
    ['a comment', '{} // no', ['rota.config.json:1:4: not JSON: Unexpected non-whitespace character']],
    ['no end', '{\n  "app": ', [expect.stringMatching(/^rota\.config\.json:2:10: not JSON: Unexpected end/)]],
    [
      'brackets without end',
      '['.repeat(1000) + ']'.repeat(1000),
      [expect.stringMatching(/deeper than 64 levels$/)],
    ],
  ])('is refused with %s', async (_, text, faults) => {
    expect(await faultsOf('rota.config.json', text)).toEqual(faults)
  })
})

describe('a config in code', () => {
  const names = ['rota.config.mjs', 'rota.config.js', 'rota.config.ts']
  beforeEach(() => write('package.json', '{"name":"demo","type":"module"}'))

  it.each(names)('%s may have functions as jobs', async (name) => {
    const { config } = await load(
      name,
      'export default { jobs: { a: { handler: async () => 5 } }, triggers: { t: { job: "a", every: 1000 } } }',
    )
    const [{ handler } = {}] = config.definitions.jobs ?? []
    await expect((handler as () => Promise<number>)()).resolves.toBe(5)
    expect(config.app).toBe('demo')
  })

  it('may have functions that steps of pipelines use', async () => {
    const { steps } = (await load('rota.config.mjs', 'export default { steps: { a: () => 5 } }')).config
    expect((steps.get('a') as () => number)()).toBe(5)
    const broken = 'export default { steps: { "a b": () => 5, c: "c" } }'
    expect(await faultsOf('rota.config.js', broken)).toEqual([
      expect.stringContaining('steps.a b: "a b" is not a name'),
      expect.stringContaining('steps.c: "c" is not a function'),
    ])
  })

  it('rota.config.ts may have types and import modules that have some', async () => {
    write('part.ts', 'export const every: string = "5m"\n')
    const text =
      'import { every } from "./part.ts"\ninterface X { a: number }\nexport default { triggers: { t: { job: "a", every: every as string } } } satisfies object'
    expect((await load('rota.config.ts', text)).config.definitions.triggers).toMatchObject([
      { trigger: { name: 't', job: 'a', schedule: { kind: 'interval', everyMs: 300_000 } } },
    ])
  })

  it.each(names)('%s may export something else, such as an app', async (name) => {
    const path = write(name, 'export default new (class App {})()')
    expect(await loadConfig(path)).toMatchObject({ kind: 'module', path, directory, exported: {} })
  })

  it('lists all faults by their paths', async () => {
    expect(
      await faultsOf('rota.config.mjs', 'export default { jobs: { a: { handler: 1 } }, lease: "1x" }'),
    ).toEqual([
      expect.stringMatching(/^rota\.config\.mjs: lease: "1x": x is not a unit here, at position 1/),
      `rota.config.mjs: jobs.a.handler: 1 is not a function (allowed: a function in code, or a module that exports one, such as { module: './jobs/report.mjs' })`,
    ])
  })

  it('without a default export, or that cannot be loaded, is refused with the reason', async () => {
    const empty = write('rota.config.mjs', 'export const a = 1')
    await expect(loadConfig(empty)).rejects.toThrow(`${empty} cannot be read: it has no default export`)
    const throwing = write('rota.config.js', 'throw new Error("no way")')
    await expect(loadConfig(throwing)).rejects.toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: `${throwing} cannot be loaded: no way` }),
    )
  })
})

describe('finding a config', () => {
  it('uses the first of the names', () => {
    expect(findConfig(directory)).toBe(undefined)
    for (const name of configNames.toReversed()) {
      const path = write(name, '')
      expect(findConfig(directory)).toBe(path)
    }
  })

  it('names the file that is missing or of the wrong kind', async () => {
    await expect(loadConfig('nowhere/rota.config.yaml')).rejects.toThrow(
      expect.objectContaining({
        code: 'CONFIG_NOT_FOUND',
        message: 'there is no config file nowhere/rota.config.yaml',
      }),
    )
    await expect(loadConfig(write('rota.toml', ''))).rejects.toThrow(
      /rota\.toml is not a config file \(allowed: a file that ends with \.ts, /,
    )
  })
})
