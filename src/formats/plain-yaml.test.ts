import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readYamlText } from './config/config-text.js'
import { readPlainYaml } from './plain-yaml.js'

/** The full parser must read everything that the plain reader reads without a fault and with the same value. */
function expectAgreement(text: string): void {
  const plain = readPlainYaml(text)
  if (plain === undefined) return
  const { faults, ...full } = readYamlText(text)
  expect(faults, text).toEqual([])
  expect(plain.value, text).toEqual(full.value)
  // Keys in the same order, because output depends on it.
  expect(JSON.stringify(plain.value), text).toBe(JSON.stringify(full.value))
}

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const files = readdirSync(examples, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.ya?ml$/.test(name),
)

describe('the reader of plain YAML', () => {
  it('Q13: reads every shipped plan and pipeline like the full parser', () => {
    expect(files.length).toBeGreaterThan(5)
    for (const name of files) {
      const text = readFileSync(join(examples, name), 'utf8')
      expectAgreement(text)
      expectAgreement(text.replaceAll('\n', '\r\n'))
      if (/plan|pipeline/.test(name)) expect(readPlainYaml(text), name).toBeDefined()
    }
  })

  it.each([
    'a: 1',
    '---\n# first\na: "x # y" # z\n\nb: \'it is "so"\'\n',
    'a:\n- 1\n-   b: 2\n    c:\n    - d\nlast: end',
    'a: { b: [1, 2.5, -3], "c d": {}, e: [] }',
    'at: 2026-01-05T09:00:30+07:00\nto: [2026-01-05T09:00Z]',
    'a: Hello, world! It\'s "fine" {so} [far]\nb: เช้า วันใหม่\nc: ../x/./y.yml',
    'a: true\nb: false\nc: null\nd: yes\ne: truely',
  ])('Q13: reads %j', (text) => {
    expect(readPlainYaml(text)).toBeDefined()
    expectAgreement(text)
  })

  it.each([
    ['nothing', ''],
    ['a list', '- a'],
    ['a value on two lines', 'a: b\n  c'],
    ['a text over two lines', 'a: "b\n  c"'],
    ['no value', 'a:\nb: 1'],
    ['an escape', 'a: "\\u0041"'],
    ['a doubled quote', "a: 'it''s'"],
    ['a block of text', 'a: |\n  b'],
    ['an anchor', 'a: &x 1'],
    ['an alias', 'a: *x'],
    ['a tag', 'a: !!str 1'],
    ['a tab', 'a:\t1'],
    ['a key twice', 'a: 1\na: 2'],
    ['a prototype', '__proto__: { a: 1 }'],
    ['a prototype in a flow', 'a: { "__proto__": 1 }'],
    ['a second document', 'a: 1\n---\nb: 2'],
    ['a comment without a space', 'a: "b"#c'],
    ['a colon and a space', 'a: b: c'],
    ['a colon at the end', 'a: b:'],
    ['a flow over two lines', 'a: [1,\n  2]'],
    ['a comma too many', 'a: [1, ]'],
    ['a number in another notation', 'a: 0x1F'],
    ['an exponent', 'a: 1e3'],
    ['a number with a leading zero', 'a: 007'],
    ['a large number', 'a: 12345678901234567890'],
    ['another case', 'a: True'],
    ['a key that is not a text', 'null: 1'],
    ['a list in a list', 'a:\n  - - 1'],
    ['a byte order mark inside', 'a: "\ufeff"'],
    ['a non-breaking space', 'a:\u00a0b'],
    ['depth', `a: ${'['.repeat(40)}${']'.repeat(40)}`],
  ])('Q13: leaves %s to the full parser', (_, text) => {
    expect(readPlainYaml(text)).toBeUndefined()
  })

  it('Q13: agrees with the full parser on plans with any layout', () => {
    let read = 0
    const count = 500
    fc.assert(
      fc.property(plans, (text) => {
        if (readPlainYaml(text) !== undefined) read++
        expectAgreement(text)
      }),
      { numRuns: count },
    )
    expect(read).toBeGreaterThan(count * 0.9)
  })

  it('Q13: agrees with the full parser on damaged plans', () => {
    fc.assert(
      fc.property(plans, fc.array(damages, { minLength: 1, maxLength: 4 }), (text, done) => {
        expectAgreement(done.reduce(damaged, text))
      }),
      { numRuns: 2000 },
    )
  })
})

const words = fc.constantFrom(
  'mindfulness',
  'a b',
  '5',
  '-1',
  '1.50',
  '0',
  'true',
  'null',
  'เช้า',
  'x:y',
  "it's",
  'a, b',
  '/x',
  './x',
)
const quotable = fc.string({ unit: fc.constantFrom(...'ab #:-,[]{}&*!|>%@`?~=ก'.split('')), maxLength: 8 })
const scalars = fc.oneof(
  words,
  quotable.map((text) => `"${text}"`),
  quotable.map((text) => `'${text}'`),
)
const flowWords = fc.constantFrom('a', 'a b', '5', '2026-01-05T09:00', 'x/y.yml', 'null', '"q, }"', "'#'")
const flows = fc.oneof(
  fc.array(flowWords, { maxLength: 3 }).map((all) => `[${all.join(', ')}]`),
  fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', '"c d"', 'e-f'), flowWords), {
      selector: ([key]) => key,
      maxLength: 3,
    })
    .map((all) => `{ ${all.map(([key, value]) => `${key}: ${value}`).join(', ')} }`),
)
const remarks = fc.constantFrom('', '', '', ' # remark', '   ', ' # a: "b')

interface Entry {
  readonly lines: readonly (readonly [string, string])[]
  readonly params: readonly (readonly [string, string])[]
  readonly remark: string
}

const entries: fc.Arbitrary<Entry> = fc.record({
  lines: fc.tuple(
    fc
      .constantFrom('"2026-01-05T09:00"', '2026-01-05T09:00', "'2026-01-05T18:00+07:00'")
      .map((at) => ['publish_at', at] as const),
    fc
      .constantFrom('pipeline.web.yml', '"a b.yml"', 'deep/er.yml')
      .map((at) => ['pipeline_path', at] as const),
    scalars.map((text) => ['run_id_prefix', text] as const),
  ),
  params: fc.uniqueArray(
    fc.tuple(fc.constantFrom('topic_seed', 'n', 'constructor', 'x-y'), fc.oneof(scalars, flows)),
    { selector: ([key]) => key, maxLength: 3 },
  ),
  remark: remarks,
})

/** Plans in block style, with the indents, remarks and empty lines that people write. */
const plans = fc
  .record({
    head: fc.constantFrom('', '---\n', '# a plan\n\n'),
    version: fc.constantFrom('"v1"', 'v1', "'v1'"),
    dash: fc.constantFrom('- ', '  - ', '    -   ', '-  '),
    deeper: fc.constantFrom(1, 2, 4),
    all: fc.array(entries, { minLength: 1, maxLength: 3 }),
    between: fc.constantFrom('', '\n', '# between\n', '      # far\n'),
  })
  .map(({ head, version, dash, deeper, all, between }) => {
    const blank = ' '.repeat(dash.length)
    const inner = `${blank}${' '.repeat(deeper)}`
    const texts = all.map(({ lines, params, remark }) => {
      const own = lines.map(([key, value]) => `${key}: ${value}${remark}`).join(`\n${blank}`)
      const given = params.map(([key, value]) => `\n${inner}${key}: ${value}`).join('')
      return `${dash}${own}${given === '' ? '' : `\n${blank}params:${remark}${given}`}\n`
    })
    return `${head}schema_version: ${version}\ntimezone: Asia/Bangkok\nentries:\n${texts.join(between)}`
  })

const damages = fc.record({
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  cut: fc.integer({ min: 0, max: 3 }),
  put: fc.string({ unit: fc.constantFrom(...' \n:-#"\'{}[],ab1.~&*!|>%@\t\\'.split('')), maxLength: 3 }),
})

function damaged(text: string, { at, cut, put }: { at: number; cut: number; put: string }): string {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + put + text.slice(start + cut)
}
