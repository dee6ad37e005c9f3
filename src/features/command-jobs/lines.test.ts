import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatJobLine, isTorn, markExecuted, readJobLines, type JobLine } from './lines.js'

const recurring =
  '{"id":"job_123","type":"recurring","schedule":"0 9 * * *","command":"check_status","user_id":"user1","metadata":{},"executed":false,"executed_at":null}'
const oneShot =
  '{"id":"job_124","type":"oneshot","execute_at":"2026-01-05T09:00:00Z","command":"remind","user_id":"user1","metadata":{"chat":"42"},"executed":false,"executed_at":null}'
const executed =
  '{"id":"job_125","type":"oneshot","execute_at":"2026-01-05T09:00:00Z","command":"remind","user_id":"user1","metadata":{"chat":"42"},"executed":true,"executed_at":"2026-01-05T09:00:02.143Z"}'

async function read(text: string | Buffer, unknown: 'keep' | 'refuse' = 'keep'): Promise<readonly JobLine[]> {
  return await readJobLines(Buffer.from(text), { unknown, path: 'jobs.jsonl' })
}

/** The faults of a text, as `line:column path: message`. */
async function faults(text: string | Buffer, unknown: 'keep' | 'refuse' = 'keep'): Promise<string[]> {
  return (await read(text, unknown)).flatMap((line) =>
    line.kind === 'faulty'
      ? line.faults.map((one) => `${one.line}:${one.column} ${one.path}: ${one.message}`)
      : [],
  )
}

describe('the lines of a jobs file', () => {
  it.each([
    ['fields that are unknown', (names: string) => `{${names}}`],
    ['metadata that is no text', (names: string) => `{"id":"a","type":"oneshot","metadata":{${names}}}`],
  ])(
    'a line with a hundred thousand faults (%s) tells the first ones and how many follow',
    async (_, line) => {
      const names = Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')
      const told = await faults(line(names), 'refuse')
      expect(told).toHaveLength(21)
      expect(told.at(-1)).toMatch(/: \d+ more faults follow$/)
    },
  )

  it('a file with too many lines is refused, whatever they contain', async () => {
    await expect(read('\n'.repeat(500_001))).rejects.toMatchObject({
      code: 'JOBS_INVALID',
      message: 'jobs.jsonl has more than 500000 lines',
    })
  })

  it('thousands of lines that are not JSON are all reported', async () => {
    const lines = await read('x\n'.repeat(50_000))
    expect(lines.every((line) => line.kind === 'faulty' && line.faults[0]?.message !== '')).toBe(true)
  })

  it('N4: the lines of a jobs file are read and written byte for byte', async () => {
    const lines = await read(`${recurring}\n${oneShot}\n${executed}\n`)
    expect(lines.map((line) => line.kind)).toEqual(['job', 'job', 'job'])
    const again = lines.map((line) => (line.kind === 'job' ? formatJobLine(line.job, line.executed) : ''))
    expect(again).toEqual([recurring, oneShot, executed])
    expect(Buffer.concat(lines.map(({ bytes }) => bytes)).toString()).toBe(
      `${recurring}\n${oneShot}\n${executed}\n`,
    )
  })

  it('N4: lines of other programs are understood: order, spaces, offsets, empty fields', async () => {
    const [line] = await read(
      '\ufeff{ "command": "remind", "type": "oneshot", "id": "a", "schedule": "", "execute_at": "2026-01-05T16:00:00.5+07:00", "metadata": null }\r\n',
    )
    expect(line).toMatchObject({
      kind: 'job',
      executed: undefined,
      job: {
        id: 'a',
        type: 'oneshot',
        executeAt: Date.UTC(2026, 0, 5, 9, 0, 0, 500),
        userId: '',
        metadata: {},
      },
    })
  })

  it('N4: unknown fields are kept and written after the others, including `__proto__`', async () => {
    const text = `${recurring.slice(0, -1)},"priority":5,"__proto__":{"x":1},"constructor":"c"}`
    const [line] = await read(text)
    expect(line?.kind === 'job' && formatJobLine(line.job)).toBe(text)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('N4: in a file that is used in place, an unknown field is a fault', async () => {
    const text = `${recurring.slice(0, -1)},"comand":"x"}`
    expect(await faults(text, 'refuse')).toEqual([
      `1:${text.indexOf('"comand"') + 1} comand: there is no such field; did you mean command?`,
    ])
  })

  it('N4: a missing type, a duplicate id and a torn last line are reported with line and column, and the others are read', async () => {
    const torn = '{"id":"job_9","type":"recurr'
    const text = `{"id":"x","command":"c","schedule":"0 9 * * *"}\n${oneShot}\n${oneShot}\n\n${torn}`
    const lines = await read(text)
    expect(lines.map((line) => line.kind)).toEqual(['faulty', 'job', 'faulty', 'blank', 'faulty'])
    expect(isTorn(lines)).toBe(true)
    expect(await faults(text)).toEqual([
      '1:1 : type is missing',
      '3:2 id: line 2 already has this id',
      expect.stringMatching(/^5:\d+ : not JSON/),
    ])
  })

  it('N7: a fault in a cron expression is reported with its own column', async () => {
    const text = recurring.replace('0 9 * * *', '0 25 * * *')
    const [fault] = await faults(text)
    expect(fault).toMatch(new RegExp(`^1:${text.indexOf('25') + 1} schedule: .*position 2`))
  })

  it('N4: all faults of a line are reported together, each with what is allowed', async () => {
    const text =
      '{"id":"../x","type":"recurring","schedule":"61 * * * *","execute_at":"2026-01-05T09:00:00Z","command":"","user_id":7,"metadata":{"chat":42},"executed":"no"}'
    const [line] = await read(text)
    const found = line?.kind === 'faulty' ? line.faults : []
    expect(found.map(({ path }) => path)).toEqual([
      'id',
      'schedule',
      'execute_at',
      'command',
      'user_id',
      'metadata.chat',
      'executed',
    ])
    expect(found.every(({ allowed }) => allowed !== undefined)).toBe(true)
  })

  it('N4: binary, huge, deep and other hostile lines affect only themselves', async () => {
    const lines = await readJobLines(
      Buffer.concat([
        Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
        Buffer.from(`"${'x'.repeat(1_100_000)}"\n`),
        Buffer.from(`${'['.repeat(200_000)}${']'.repeat(200_000)}\n`),
        Buffer.from(`${recurring.replace('{}', `{"a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`)}\n`),
        Buffer.from(`${recurring.slice(0, -1)},"id":"other"}\n`),
        Buffer.from(`null\n[]\n"x"\n{}\n`),
        Buffer.from(`${oneShot.replace('2026-01-05', '2026-02-30')}\n`),
        Buffer.from(`${recurring}\n`),
      ]),
      { unknown: 'keep', path: 'jobs.jsonl' },
    )
    expect(lines.map((line) => line.kind)).toEqual([...Array<string>(10).fill('faulty'), 'job'])
  })

  it('N4: a value that is too deep or too large for a payload is refused, not stored', async () => {
    const deep = `{"a":`.repeat(150) + '1' + '}'.repeat(150)
    expect(await faults(`${recurring.slice(0, -1)},"deep":${deep}}`)).toEqual([
      expect.stringContaining('deeper than'),
    ])
    expect(await faults(`${recurring.slice(0, -1)},"large":"${'x'.repeat(300_000)}"}`)).toEqual([
      expect.stringContaining('too many'),
    ])
  })

  it('N6: the mark of an executed one-shot changes nothing else in its line', async () => {
    const foreign =
      '{ "command": "remind", "id": "a", "executed": false, "type": "oneshot", "execute_at": "2026-01-05T16:00:00+07:00" }\r\n'
    expect(markExecuted(Buffer.from(foreign), Date.UTC(2026, 0, 5, 9, 0, 2)).toString()).toBe(
      '{"command":"remind","id":"a","executed":true,"type":"oneshot","execute_at":"2026-01-05T16:00:00+07:00","executed_at":"2026-01-05T09:00:02Z"}\r\n',
    )
    expect(markExecuted(Buffer.from(oneShot), Date.UTC(2026, 0, 5, 9, 0, 2, 143)).toString()).toBe(
      executed.replace('job_125', 'job_124'),
    )
  })

  it('any bytes are read without an exception, and every line keeps its bytes', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(recurring, oneShot, executed, '\n', '\r\n', '{', '"', '\\')
        .map((text) => Buffer.from(text)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const bytes = Buffer.concat(pieces)
        const lines = await readJobLines(bytes, { unknown: 'refuse', path: 'jobs.jsonl' })
        expect(Buffer.concat(lines.map((line) => line.bytes)).equals(bytes)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('a line that Rota wrote is read as the same job', async () => {
    const text = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((one) => !one.includes('\0'))
    await fc.assert(
      fc.asyncProperty(text, text, fc.dictionary(text, text), async (command, userId, metadata) => {
        const due = { type: 'recurring', schedule: '* * * * * *' } as const
        const job = { id: 'a', ...due, command, userId, metadata, extra: {} }
        const [line] = await read(formatJobLine(job))
        expect(line?.kind === 'job' && formatJobLine(line.job)).toBe(formatJobLine(job))
      }),
      { numRuns: 200 },
    )
  })
})
