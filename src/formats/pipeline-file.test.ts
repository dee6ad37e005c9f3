import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { RotaError } from '../kernel/definition/errors.js'
import { loadPipeline } from './pipeline-file.js'
import { builtSchema } from '../../test/config-schema.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-pipeline-'))
})

function write(text: string): string {
  const path = join(directory, 'pipeline.web.yml')
  writeFileSync(path, text)
  return path
}

async function faultsOf(text: string): Promise<string[]> {
  const error: unknown = await loadPipeline(write(text)).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RotaError)
  expect((error as RotaError).code).toBe('PIPELINE_INVALID')
  return (error as RotaError).message
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
}

const full = `
name: web
resume: true
steps:
  - id: fetch
    run: ["node", "fetch.mjs"]
    timeout: 30s
    retry: { attempts: 5, delay: 10s }
  - http: { method: POST, url: "https://example.org/hook", body: params }
    retry: 2
  - uses: publish
    config: { channel: web }
`

describe('a pipeline file', () => {
  it('Q9: has steps in order, each with one action', async () => {
    expect(await loadPipeline(write(full))).toEqual({
      name: 'web',
      resume: true,
      steps: [
        {
          id: 'fetch',
          action: { kind: 'shell', argv: ['node', 'fetch.mjs'] },
          timeoutMs: 30_000,
          retry: { attempts: 5, delayMs: 10_000 },
        },
        {
          id: 'step-2',
          action: { kind: 'http', method: 'POST', url: 'https://example.org/hook', body: 'params' },
          timeoutMs: undefined,
          retry: { attempts: 2, delayMs: 1000 },
        },
        {
          id: 'step-3',
          action: { kind: 'uses', name: 'publish', config: { channel: 'web' } },
          timeoutMs: undefined,
          retry: { attempts: 1, delayMs: 1000 },
        },
      ],
    })
  })

  it('Q9: is by default named after its file, and by default starts over', async () => {
    const pipeline = await loadPipeline(write('steps: [{ uses: a }]'))
    expect(pipeline).toMatchObject({ name: 'pipeline.web', resume: false })
    expect(Object.isFrozen(pipeline.steps[0])).toBe(true)
  })

  it('Q9: is refused with all its faults at once, each where it was written', async () => {
    const text = [
      'resume: maybe',
      'step: []',
      'steps:',
      '  - run: node x.js',
      '  - { id: "a b", run: [x], uses: y }',
      '  - timeout: 0s',
      '  - { run: [x], config: {}, retry: { attempts: 0, delay: 2h } }',
      '  - { id: step-6, uses: "" }',
      '  - { id: same, uses: a }',
      '  - { id: same, http: { url: "file:///etc/passwd" } }',
      '  - { id: same, uses: b }',
    ].join('\n')
    expect((await faultsOf(text)).map((line) => line.replace(/ \(allowed: .*/, ''))).toEqual([
      'pipeline.web.yml:1:1: resume: "maybe" is neither true nor false',
      'pipeline.web.yml:2:1: step: unknown option; did you mean steps?',
      'pipeline.web.yml:4:5: steps[0].run: "node x.js" is a single string, and no shell splits it',
      'pipeline.web.yml:5:5: steps[1]: run and uses cannot be combined',
      'pipeline.web.yml:5:7: steps[1].id: "a b" is not an id',
      'pipeline.web.yml:6:5: steps[2]: no action is defined',
      'pipeline.web.yml:6:5: steps[2].timeout: "0s" is too short',
      'pipeline.web.yml:7:17: steps[3].config: it cannot be used with run',
      'pipeline.web.yml:7:38: steps[3].retry.attempts: 0 is not allowed',
      'pipeline.web.yml:7:51: steps[3].retry.delay: "2h" is too long',
      'pipeline.web.yml:8:19: steps[4].uses: "" is not a name',
      'pipeline.web.yml:10:25: steps[6].http.url: file: is not supported',
      'pipeline.web.yml:11:5: steps[7]: its id same duplicates steps[5]',
    ])
  })

  it.each([
    ['{}', 'pipeline.web.yml:1:1: (whole): steps are missing (allowed: a list of 1 to 100 steps)'],
    [
      'steps: []',
      'pipeline.web.yml:1:1: steps: a list is not a list of steps (allowed: a list of 1 to 100 steps)',
    ],
    ['steps: 5', 'pipeline.web.yml:1:1: steps: 5 is not a list of steps (allowed: a list of 1 to 100 steps)'],
    [`steps: [${'{ uses: a }, '.repeat(101)}]`, expect.stringContaining('a list of 1 to 100 steps')],
    [
      'steps: [{ id: step-2, uses: a }, { uses: b }]',
      'pipeline.web.yml:1:34: steps[1]: its id step-2 duplicates steps[0] (allowed: a unique id)',
    ],
    ['steps: [{ id: __proto__, uses: a }]', expect.stringContaining('steps[0].id: "__proto__" is not an id')],
    [
      'steps: [{ http: { url: "https://example.org", headers: { x-api-key: abc } } }]',
      expect.stringContaining('steps[0].http.headers.x-api-key: a secret does not belong in a definition'),
    ],
    ['['.repeat(10_000), expect.stringContaining('deeper than 64 levels')],
  ])('Q9: is refused as %j', async (text, fault) => {
    expect(await faultsOf(text)).toContainEqual(fault)
  })

  it('has a shape for editors with the keys that the rules know', async () => {
    const known = async (text: string): Promise<string[]> =>
      (/allowed: (.*)\)/.exec((await faultsOf(text))[0] ?? '')?.[1] ?? '').split(', ').toSorted()
    const { properties = {} } = builtSchema('pipeline')
    expect(Object.keys(properties).toSorted()).toEqual(await known('x_y: 1\nsteps: [{ uses: a }]'))
    expect(Object.keys(properties['steps']?.items?.properties ?? {}).toSorted()).toEqual(
      await known('steps: [{ x_y: 1, uses: a }]'),
    )
  })
})
