import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import { formatInstant } from '../../time/instant.js'
import { readPlan, type Plan } from './definition.js'
import { loadPlan } from './file.js'
import { builtSchema, fits } from '../../../test/config-schema.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-plan-'))
})

function write(text: string | Buffer): string {
  const path = join(directory, 'plan.yaml')
  writeFileSync(path, text)
  return path
}

/** The lines of the error of a plan, without the line that names the file. */
async function faultsOf(text: string | Buffer): Promise<string[]> {
  const path = write(text)
  const error = await loadPlan(path).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(RotaError)
  const { code, message } = error as RotaError
  expect(code).toBe('PLAN_INVALID')
  const [first, ...lines] = message.split('\n')
  expect(first).toContain(path)
  return lines.length === 0 ? [message.slice(path.length + 1)] : lines.map((line) => line.trim())
}

const sample = `schema_version: "v1"
timezone: "Asia/Bangkok"
entries:
  - publish_at: "2026-01-05T09:00"
    pipeline_path: "pipeline.web.yml"
    run_id_prefix: "morning"
    params:
      topic_seed: "mindfulness"
`

/** A plan with one entry, made of the lines that differ. */
function planOf(entry: string, head = ''): string {
  return `schema_version: v1\n${head}entries:\n  - ${entry}\n`
}

describe('a plan', () => {
  it('Q2: is read as in the sample of the design', async () => {
    expect(await loadPlan(write(sample))).toEqual({
      timezone: 'Asia/Bangkok',
      entries: [
        {
          publishAt: '2026-01-05T09:00',
          dueAt: Date.UTC(2026, 0, 5, 2),
          pipelinePath: 'pipeline.web.yml',
          runIdPrefix: 'morning',
          params: { topic_seed: 'mindfulness' },
          jobId: '96b0037ff184',
          runId: 'morning_20260105_0900_96b0037ff184',
          runIdBase: 'morning_20260105_0900',
        },
      ],
    })
  })

  it('Q2: is an example of the package, equal to the sample', () => {
    const path = new URL('../../../examples/plans/schedule_plan.yaml', import.meta.url)
    expect(readFileSync(path, 'utf8')).toContain(sample.slice(sample.indexOf('entries:')))
  })

  it('Q2: may have no entries, and has Asia/Bangkok as default zone', async () => {
    expect(await loadPlan(write('schema_version: v1\nentries: []'))).toEqual({
      timezone: 'Asia/Bangkok',
      entries: [],
    })
  })

  it('Q2: is refused with all its faults together, each with its place', async () => {
    const text = [
      'schema_version: 1',
      'timezone: Bangkok',
      'entrys: []',
      'entries:',
      '  - publish_at: "2026-02-30T09:00"',
      '    pipeline_path: ../secret.yml',
      '  - publish_at: "2026-01-05T09:00:00.5"',
      '    pipeline_path: /etc/passwd',
      '    run_id_prefix: "a b"',
      '    colour: red',
      '  - pipeline_path: "a|b"',
      '    params: [1]',
      '  - publish_at: 2026-01-05T09:00',
      '  - just words',
    ].join('\n')
    expect((await faultsOf(text)).map((line) => line.replace(/ \(allowed: .*/, ''))).toEqual([
      'plan.yaml:1:1: schema_version: 1 is not a version of plans',
      'plan.yaml:2:1: timezone: "Bangkok" is not a time zone: did you mean Asia/Bangkok?',
      'plan.yaml:3:1: entrys: unknown option; did you mean entries?',
      'plan.yaml:5:5: entries[0].publish_at: "2026-02-30T09:00": day 30 is not within 1 to 28, at position 8',
      'plan.yaml:6:5: entries[0].pipeline_path: "../secret.yml" leaves the directory with ..',
      'plan.yaml:7:5: entries[1].publish_at: "2026-01-05T09:00:00.5": fractions of a second are not accepted, at position 19',
      'plan.yaml:8:5: entries[1].pipeline_path: "/etc/passwd" is absolute',
      'plan.yaml:9:5: entries[1].run_id_prefix: "a b" is not a prefix',
      'plan.yaml:10:5: entries[1].colour: unknown option',
      'plan.yaml:11:5: entries[2]: publish_at is missing',
      'plan.yaml:11:5: entries[2].pipeline_path: "a|b" contains |',
      'plan.yaml:12:5: entries[2].params: a map was expected, not a list',
      'plan.yaml:13:5: entries[3]: pipeline_path is missing',
      'plan.yaml:14:5: entries[4]: a map of options was expected, not "just words"',
    ])
  })

  it.each([
    ['pipeline.web.yml', undefined],
    ['deep/er/pipeline.yml', undefined],
    ['..hidden/a..b.yml', undefined],
    ['เช้า.yml', undefined],
    ['', 'is empty'],
    ['a/../b.yml', 'leaves the directory with ..'],
    ['a\\..\\b.yml', 'leaves the directory with ..'],
    ['..', 'leaves the directory with ..'],
    ['https://example.org/a.yml', 'is a URL'],
    ['S3://bucket/a.yml', 'is a URL'],
    ['file:a.yml', 'is a URL'],
    ['web:v2.yml', undefined],
    ['C:\\x.yml', 'is absolute'],
    ['c:x.yml', 'is absolute'],
    ['\\\\host\\share', 'is absolute'],
    ['a\nb', 'contains a control character'],
    ['a\u0000b', 'contains a control character'],
    ['x'.repeat(1025), 'is too long'],
  ])('Q2: the path %j %s', async (path, problem) => {
    const text = planOf(`{ publish_at: 2026-01-05T09:00, pipeline_path: ${JSON.stringify(path)} }`)
    if (problem === undefined) {
      expect((await loadPlan(write(text))).entries[0]?.pipelinePath).toBe(path)
    } else expect(await faultsOf(text)).toEqual([expect.stringContaining(` ${problem} `)])
  })

  it.each([
    ['a key that is a list', '? [a]\n: 1', '1:3: a key must be a text, not a list or a map'],
    ['a key that is an alias', 'timezone: &a x\n*a : 1', '2:1: a key must be written out, not an alias'],
    ['no key', ': 1', '1:1: a key is missing'],
    ['a key in two notations', '1: a\n"1": b', '2:1: duplicate key'],
  ])('Q2: is refused with %s', async (_, text, fault) => {
    expect(await faultsOf(text)).toContain(`plan.yaml:${fault}`)
  })

  it('Q2: has the keys as they were written', async () => {
    const params = '{ 012: a, 0x1F: b, 1.0: c, true: d, ~: e, 1e3: 1e30, 9007199254740993: 9007199254740991 }'
    const { entries } = await loadPlan(
      write(planOf(`{ publish_at: 2026-01-05T09:00, pipeline_path: a, params: ${params} }`)),
    )
    expect(entries[0]?.params).toEqual({
      '012': 'a',
      '0x1F': 'b',
      '1.0': 'c',
      true: 'd',
      '~': 'e',
      '1e3': 1e30,
      '9007199254740993': 9_007_199_254_740_991,
    })
  })

  it.each<[string, string | Buffer, unknown]>([
    ['nothing', '', 'plan.yaml:1:1: the file is empty'],
    ['a list', '- a', 'plan.yaml:1:1: (whole): a map of options was expected, not a list'],
    [
      'bytes that are no text',
      Buffer.from([0x61, 0xff, 0x00]),
      'plan.yaml:1:2: not UTF-8: the byte 0xff (allowed: text in UTF-8)',
    ],
    ['too much', `# ${'x'.repeat(8_388_608)}`, 'cannot be read: 8388610 bytes, at most 8388608'],
    ['a tag', 'entries: []\nschema_version: !!js/function v1', 'plan.yaml:2:17: tags are not accepted'],
    [
      'a tag that YAML knows',
      'entries: []\nschema_version: !!str v1',
      'plan.yaml:2:17: tags are not accepted',
    ],
    ['a tag without a name', 'entries: ! []\nschema_version: v1', 'plan.yaml:1:10: tags are not accepted'],
    [
      'a value that begins as no value may',
      'schema_version: v1\nentries: [ @daily ]',
      'plan.yaml:2:12: a value must not begin with @ here; write it in quotes: "@daily"',
    ],
    ['depth', '['.repeat(100_000), expect.stringMatching(/^plan\.yaml:1:\d+: deeper than 64 levels$/)],
    [
      'very many aliases',
      `a: &a x\nb: [${Array(101).fill('*a').join(', ')}]`,
      'plan.yaml:2:405: more than 100 aliases',
    ],
    [
      'a prototype as a key',
      'schema_version: v1\nentries: []\n__proto__: { polluted: true }',
      expect.stringContaining('plan.yaml:3:1: __proto__: unknown option'),
    ],
    [
      'entries as a map',
      'schema_version: v1\nentries: { a: 1 }',
      'plan.yaml:2:1: entries: a list was expected, not a map (allowed: a list, which may be empty)',
    ],
    [
      'neither version nor entries',
      '{}',
      'plan.yaml:1:1: (whole): schema_version is missing (allowed: schema_version: "v1")',
    ],
    [
      'a number that JSON cannot carry',
      planOf('{ publish_at: 2026-01-05T09:00, pipeline_path: a, params: { a: { b: .nan } } }'),
      'plan.yaml:3:55: entries[0].params: NaN at a.b cannot be represented in JSON (allowed: JSON values)',
    ],
    [
      'an integer that would be rounded',
      planOf('{ publish_at: 2026-01-05T09:00, pipeline_path: a, params: { a: -9007199254740993 } }'),
      'plan.yaml:3:68: the integer -9007199254740993 would be rounded (allowed: -9007199254740991 to 9007199254740991, or a text in quotes)',
    ],
    [
      'such an integer in another notation',
      planOf('{ publish_at: 2026-01-05T09:00, pipeline_path: a, params: { a: 0xFFFFFFFFFFFFFFFE } }'),
      expect.stringContaining('the integer 0xFFFFFFFFFFFFFFFE would be rounded'),
    ],
    [
      'an hour that does not exist',
      planOf('{ publish_at: 2026-01-05T24:00, pipeline_path: a }'),
      expect.stringContaining('hour 24 is not within 0 to 23'),
    ],
    [
      'a space in a time',
      planOf('{ publish_at: 2026-01-05 09:00, pipeline_path: a }'),
      expect.stringContaining('"2026-01-05 09:00" is written differently (allowed: YYYY-MM-DDTHH:MM'),
    ],
    [
      'a time before all ids',
      planOf('{ publish_at: 1969-12-31T23:59Z, pipeline_path: a }'),
      expect.stringContaining('it is outside the years 1970 to 9999'),
    ],
  ])('Q2: is refused with %s', async (_, text, fault) => {
    const [first] = await faultsOf(text)
    expect(first).toEqual(fault)
    expect({}).not.toHaveProperty('polluted')
  })

  it('Q2: that is missing or is a directory is reported', async () => {
    const missing = join(directory, 'none.yaml')
    await expect(loadPlan(missing)).rejects.toThrow(`${missing} cannot be read: there is no such file`)
    await expect(loadPlan(directory)).rejects.toThrow(`${directory} cannot be read: it is a directory`)
  })

  it('Q2: keeps params whatever their names are', async () => {
    const params = '{ __proto__: { a: 1 }, constructor: null, "": [true, 1.5, ก] }'
    const plan = await loadPlan(
      write(planOf(`{ publish_at: 2026-01-05T09:00, pipeline_path: a, params: ${params} }`)),
    )
    expect(JSON.stringify(plan.entries[0]?.params)).toBe(
      '{"__proto__":{"a":1},"constructor":null,"":[true,1.5,"ก"]}',
    )
  })

  it('has a schema for editors that accepts the sample and refuses unknown keys', () => {
    const value = { schema_version: 'v1', entries: [{ publish_at: '2026-01-05T09:00', pipeline_path: 'a' }] }
    const schema = builtSchema('plan')
    expect(fits(schema, value)).toBe(true)
    expect(fits(schema, { ...value, entry: [] })).toBe(false)
    expect(schema).toMatchObject({ required: ['schema_version', 'entries'] })
  })
})

describe('the times of a plan', () => {
  it.each([
    [
      '2026-01-05T09:00',
      'Asia/Bangkok',
      '2026-01-05T02:00:00Z',
      'without an offset, in the zone of the plan',
    ],
    ['2026-01-05T09:00:30', 'Asia/Bangkok', '2026-01-05T02:00:30Z', 'with seconds'],
    ['2026-01-05T18:00+07:00', 'Europe/Berlin', '2026-01-05T11:00:00Z', 'with an offset that wins'],
    ['2026-01-05T18:00Z', 'Asia/Bangkok', '2026-01-05T18:00:00Z', 'in UTC'],
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00Z', 'in a gap: as far behind it'],
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z', 'that comes twice: the first one'],
    ['2026-10-25T02:30+01:00', 'Europe/Berlin', '2026-10-25T01:30:00Z', 'that comes twice: the second one'],
    ['2028-02-29T00:00', 'Pacific/Apia', '2028-02-28T11:00:00Z', 'on a leap day'],
  ])('Q3: %s in %s is %s: %s', (publishAt, timezone, utc) => {
    const [entry] = read({ timezone, entries: [{ publish_at: publishAt, pipeline_path: 'a' }] }).entries
    expect(formatInstant(entry?.dueAt ?? 0)).toBe(utc)
  })
})

describe('the ids of a plan', () => {
  it.each([
    ['2026-01-05T09:00', 'morning', '96b0037ff184', 'morning_20260105_0900_96b0037ff184'],
    ['2026-01-05T18:00+07:00', undefined, '00f0a1094f8b', '20260105_1800_00f0a1094f8b'],
    ['2026-01-05T18:00+07:00', '', '00f0a1094f8b', '20260105_1800_00f0a1094f8b'],
    ['2026-01-05T11:00Z', undefined, '00f0a1094f8b', '20260105_1800_00f0a1094f8b'],
  ])('Q5: of %s with the prefix %s are %s and %s', (publishAt, prefix, jobId, runId) => {
    const written = { publish_at: publishAt, pipeline_path: 'pipeline.web.yml', run_id_prefix: prefix }
    expect(read({ entries: [written] }).entries[0]).toMatchObject({ jobId, runId })
  })

  it('Q5: are those that sha256sum computes', () => {
    const written = [
      ['2026-01-05T09:00', 'pipeline.web.yml', 'morning', 'Asia/Bangkok'],
      ['2026-06-30T23:59:59', 'flows/night.yml', 'v1.2_x-y', 'America/New_York'],
      ['2026-03-29T02:30', 'เช้า.yml', undefined, 'Europe/Berlin'],
      ['1999-12-31T00:00-03:30', 'a b.yml', '0', 'Asia/Kathmandu'],
    ] as const
    const texts = [
      '2026-01-05T02:00:00Z|pipeline.web.yml|morning_20260105_0900',
      '2026-07-01T03:59:59Z|flows/night.yml|v1.2_x-y_20260630_2359',
      '2026-03-29T01:30:00Z|เช้า.yml|20260329_0330',
      '1999-12-31T03:30:00Z|a b.yml|0_19991231_0915',
    ]
    for (const [index, [publishAt, path, prefix, timezone]] of written.entries()) {
      const text = texts[index] ?? ''
      const entry = { publish_at: publishAt, pipeline_path: path, run_id_prefix: prefix }
      const sum = execFileSync('sha256sum', { input: text, encoding: 'utf8' })
      const base = text.split('|')[2] ?? ''
      expect(read({ timezone, entries: [entry] }).entries[0]).toMatchObject({
        jobId: sum.slice(0, 12),
        runIdBase: base,
        runId: `${base}_${sum.slice(0, 12)}`,
      })
    }
  })

  it('Q5: depend on neither the params nor the order of the entries', () => {
    const entry = (hour: number, params?: object) => ({
      publish_at: `2026-01-05T${String(hour).padStart(2, '0')}:00`,
      pipeline_path: 'a.yml',
      params,
    })
    const one = read({ entries: [entry(1), entry(2, { x: 1 })] }).entries.map(({ runId }) => runId)
    const other = read({ entries: [entry(2), entry(1, { y: 2 })] }).entries.map(({ runId }) => runId)
    expect(one).toEqual(other.toReversed())
  })

  it('Q5: shared by two entries are an error, with equal or different params', async () => {
    const text = [
      'schema_version: v1',
      'entries:',
      '  - { publish_at: 2026-01-05T09:00, pipeline_path: a.yml, params: { n: 1 } }',
      '  - { publish_at: 2026-01-05T02:00Z, pipeline_path: a.yml, params: { n: 1 } }',
      '  - { publish_at: 2026-01-05T09:00, pipeline_path: a.yml, params: { n: 2 } }',
    ].join('\n')
    const allowed = '(allowed: another publish_at, pipeline_path or run_id_prefix)'
    expect(await faultsOf(text)).toEqual([
      `plan.yaml:4:5: entries[1]: it is written twice: entries[0] is the same ${allowed}`,
      `plan.yaml:5:5: entries[2]: entries[0] has the same id b087c7085acc but other params ${allowed}`,
    ])
  })

  it('Q5: contain the due minute in the zone of the plan, however it was written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.constantFrom('Asia/Bangkok', 'America/New_York', 'Australia/Lord_Howe', 'UTC'),
        (seconds, timezone) => {
          const publishAt = formatInstant(seconds * 1000)
          const [entry] = read({ timezone, entries: [{ publish_at: publishAt, pipeline_path: 'a' }] }).entries
          const format = new Intl.DateTimeFormat('sv-SE', {
            timeZone: timezone,
            dateStyle: 'short',
            timeStyle: 'short',
          })
          expect(entry?.dueAt).toBe(seconds * 1000)
          expect(entry?.runIdBase).toBe(
            format
              .format(seconds * 1000)
              .replace(/[-:]/g, '')
              .replace(' ', '_'),
          )
        },
      ),
    )
  })
})

function read(plan: object): Plan {
  const place = placeOf()
  const value = readPlan({ schema_version: 'v1', ...plan }, place)
  expect(place.faults).toEqual([])
  return value as Plan
}
