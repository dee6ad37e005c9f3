import { describe, expect, it } from 'vitest'
import { defineJob, type JobInput } from './define-job.js'
import { defineQueue } from './define-queue.js'
import { RotaError } from '../definition/errors.js'
import { noRetry } from './retry.js'

function faultsOf(input: unknown, name = 'j'): string[] {
  try {
    defineJob(name, input as JobInput)
  } catch (error) {
    expect(error).toBeInstanceOf(RotaError)
    return (error as RotaError).faults.map(
      ({ path, message, allowed }) => `${path}: ${message}${allowed === undefined ? '' : ` (${allowed})`}`,
    )
  }
  return []
}

const command = ['true']

describe('a job', () => {
  it('has all defaults', () => {
    expect(defineJob('j', { command: ['node', '-e', '1'] })).toEqual({
      name: 'j',
      handler: { kind: 'shell', argv: ['node', '-e', '1'] },
      queue: 'default',
      priority: 0,
      retry: noRetry,
      timeoutMs: undefined,
      concurrency: undefined,
      concurrencyPerKey: 1,
      maxCrashes: 3,
    })
  })

  it('takes every option', () => {
    const options = {
      queue: 'mail',
      priority: -5,
      timeout: '10m',
      concurrency: 2,
      concurrencyPerKey: 2,
      maxCrashes: 1,
    }
    expect(defineJob('j', { handler: async () => undefined, ...options })).toEqual({
      name: 'j',
      handler: { kind: 'function' },
      queue: 'mail',
      priority: -5,
      retry: noRetry,
      timeoutMs: 600_000,
      concurrency: 2,
      concurrencyPerKey: 2,
      maxCrashes: 1,
    })
  })

  it('is frozen and does not follow later changes of its input', () => {
    const argv = ['echo', 'a']
    const job = defineJob('j', { command: argv })
    argv.push('b')
    expect(job.handler).toEqual({ kind: 'shell', argv: ['echo', 'a'] })
    expect(Object.isFrozen(job) && Object.isFrozen(job.handler)).toBe(true)
  })

  it.each<[JobInput['retry'], object]>([
    [1, noRetry],
    [5, { ...noRetry, attempts: 5 }],
    [{}, { ...noRetry, attempts: 3 }],
    [
      { attempts: 4, backoff: 'linear', delay: '2s', maxDelay: 9000, jitter: 0 },
      { attempts: 4, backoff: 'linear', delayMs: 2000, maxDelayMs: 9000, jitter: 0 },
    ],
    [{ delay: '2h' }, { ...noRetry, attempts: 3, delayMs: 7_200_000, maxDelayMs: 7_200_000 }],
  ])('retry %j', (retry, policy) => {
    expect(defineJob('j', { command, retry }).retry).toEqual(policy)
  })

  it.each<[object, string[]]>([
    [{ retry: 0 }, ['retry: 0 is not allowed (a whole number from 1 to 1000)']],
    [{ retry: '3' }, ['retry: a map of options was expected, not "3"']],
    [
      { retry: { attempts: 1001, jitter: 2 } },
      [
        'retry.attempts: 1001 is not allowed (a whole number from 1 to 1000)',
        'retry.jitter: 2 is not allowed (a number from 0 to 1)',
      ],
    ],
    [{ retry: { delay: '5s', maxDelay: '1s' } }, ['retry.maxDelay: "1s" is shorter than the delay']],
    [{ retry: { max: 3 } }, ['retry.max: unknown option (attempts, backoff, delay, maxDelay, jitter, not)']],
    [{ timeout: 0 }, ['timeout: 0 is too short (from 1ms to 36525d)']],
    [{ concurrency: 0 }, ['concurrency: 0 is not allowed (a whole number from 1 to 100000)']],
    [{ concurrency: null }, ['concurrency: null is not allowed (a whole number from 1 to 100000)']],
    [{ queue: 'a b' }, [expect.stringContaining('queue: "a b" is not a name (')]],
    [{ maxCrashes: 101 }, ['maxCrashes: 101 is not allowed (a whole number from 1 to 100)']],
    [{ retries: 3 }, [expect.stringContaining('retries: unknown option; did you mean retry? (')]],
  ])('refuses %j', (options, faults) => {
    expect(faultsOf({ command, ...options })).toEqual(faults)
  })
})

describe('the action of a job', () => {
  const url = 'https://example.org/hook?x=1'
  it.each<[JobInput, object]>([
    [
      { command: { argv: ['a', ''], env: { LANG: 'C', EMPTY: '' }, cwd: 'work' } },
      { kind: 'shell', argv: ['a', ''], env: { LANG: 'C', EMPTY: '' }, cwd: 'work' },
    ],
    [{ http: { url } }, { kind: 'http', url, method: 'GET' }],
    [{ http: { url, body: { a: 1 } } }, { kind: 'http', url, method: 'POST', body: { a: 1 } }],
    [
      { http: { url, method: 'PUT', headers: { 'X-A': 'b' } } },
      { kind: 'http', url, method: 'PUT', headers: { 'X-A': 'b' } },
    ],
    [
      { http: { url, headers: { Authorization: { env: 'TOKEN', prefix: 'Bearer ' }, cookie: '' } } },
      {
        kind: 'http',
        url,
        method: 'GET',
        headers: { Authorization: { env: 'TOKEN', prefix: 'Bearer ' }, cookie: '' },
      },
    ],
    [
      { http: { url, headers: { 'x-api-key': 'abc' }, allowLiteralSecrets: true } },
      { kind: 'http', url, method: 'GET', headers: { 'x-api-key': 'abc' } },
    ],
    [
      {
        command: {
          argv: ['a'],
          env: { API_TOKEN: { file: 'token' }, MAX_TOKENS: '9', TOKEN_FILE: '/t', PWD: '/', A: 'pg://me@db' },
        },
      },
      {
        kind: 'shell',
        argv: ['a'],
        env: { API_TOKEN: { file: 'token' }, MAX_TOKENS: '9', TOKEN_FILE: '/t', PWD: '/', A: 'pg://me@db' },
      },
    ],
    [{ pipeline: 'flows/web.yml' }, { kind: 'pipeline', path: 'flows/web.yml' }],
    [{ handler: { module: './a.mjs' } }, { kind: 'module', module: './a.mjs', export: 'default' }],
    [
      { handler: { module: 'file:///a.mjs', export: 'b' }, isolate: 'thread' },
      {
        kind: 'module',
        module: 'file:///a.mjs',
        export: 'b',
        isolate: { kind: 'thread', memoryMb: 512 },
      },
    ],
    [
      { handler: { module: 'a.ts' }, isolate: 'process', memoryMb: 64 },
      {
        kind: 'module',
        module: 'a.ts',
        export: 'default',
        isolate: { kind: 'process', memoryMb: 64 },
      },
    ],
  ])('%j', (input, handler) => {
    expect(defineJob('j', input).handler).toEqual(handler)
  })

  const aModule = "a module that exports one, such as { module: './jobs/report.mjs' }"
  const ways = '(exactly one of command, shell, http, pipeline, handler)'
  it.each<[object, string[]]>([
    [{}, [`(whole): no action is defined ${ways}`]],
    [{ command, http: { url } }, [`(whole): command and http cannot be combined ${ways}`]],
    [{ pipeline: '' }, ['pipeline: it is empty']],
    [{ pipeline: ['a.yml'] }, ['pipeline: a list is not a text (a text; write a number or true in quotes)']],
    [{ handler: 'x' }, [`handler: "x" is not a function (a function in code, or ${aModule})`]],
    [
      { handler: { module: '', export: 5, name: 'x' } },
      [
        'handler.name: unknown option (module, export)',
        'handler.module: it is empty',
        'handler.export: 5 is not a text (a text; write a number or true in quotes)',
      ],
    ],
    [
      { handler: { module: 'https://example.org/a.mjs' } },
      ['handler.module: "https://example.org/a.mjs" is not a path (a path such as ./jobs/report.mjs)'],
    ],
    [
      { handler: () => undefined, isolate: 'thread' },
      [`isolate: a function of this process cannot be called from another one (${aModule})`],
    ],
    [{ command, isolate: 'process' }, ['isolate: a shell job does not run in the worker process']],
    [
      { handler: { module: 'a.mjs' }, isolate: 'thred', memoryMb: 1 },
      [
        'isolate: "thred" is not allowed; did you mean thread? (thread, process)',
        'memoryMb: 1 is not allowed (a whole number from 16 to 1048576)',
      ],
    ],
    [
      { handler: { module: 'a.mjs' }, memoryMb: 64 },
      ['memoryMb: only isolated jobs have a memory limit (isolate beside it)'],
    ],
    [
      { command: 'node x.js' },
      [
        'command: "node x.js" is a single string, and no shell splits it (a list of words such as ["node", "task.mjs"], or shell: with the text)',
      ],
    ],
    [
      { command: [] },
      ['command: the list is empty (a list of words such as ["node", "task.mjs"], 1 to 1000 of them)'],
    ],
    [{ command: [''] }, ['command[0]: it is empty']],
    [
      { command: ['a', 5, 'b\0'] },
      [
        'command[1]: 5 is not a text (a text; write a number or true in quotes)',
        'command[2]: it contains a zero byte',
      ],
    ],
    [
      {
        http: {
          url,
          headers: { Authorization: 'Bearer abc', cookie: { env: '1' }, 'x-token': { env: 'A', file: 'b' } },
        },
      },
      [
        'http.headers.Authorization: a secret does not belong in a definition ({ env: NAME } or { file: path }, with prefix: "Bearer " where it needs one, which the process that performs it resolves; allowLiteralSecrets: true beside headers allows it)',
        'http.headers.cookie.env: "1" is not the name of a variable (such as API_TOKEN)',
        'http.headers.x-token: it does not name a variable or a file (exactly one of env (a variable) and file (a path); prefix is added before it)',
      ],
    ],
    [
      { command: { argv: ['a'], env: { PGPASSWORD: 'x', X: { file: '', prefix: 1, b: 1 } } } },
      [
        'command.env.PGPASSWORD: a secret does not belong in a definition ({ env: NAME } or { file: path }, which the process that performs it resolves; allowLiteralSecrets: true beside env allows it)',
        'command.env.X.b: unknown option (env, file, prefix)',
        'command.env.X.file: "" is not a path (such as secrets/api-token)',
        'command.env.X.prefix: 1 is not a prefix (a text of at most 256 characters)',
      ],
    ],
    [
      {
        command: {
          argv: ['a'],
          env: {
            DB_PASS: 'x',
            MYSQL_PWD: 'x',
            DATABASE_URL: 'postgres://me:x@db/shop',
            REDIS: 'redis://:x@r',
          },
        },
      },
      ['DB_PASS', 'MYSQL_PWD', 'DATABASE_URL', 'REDIS'].map(
        (name) =>
          `command.env.${name}: a secret does not belong in a definition ({ env: NAME } or { file: path }, which the process that performs it resolves; allowLiteralSecrets: true beside env allows it)`,
      ),
    ],
    [
      { command: { argv: ['a'], env: { 'A-B': 'x', ROTA_JOB: 'x', N: 1 }, cwd: '' } },
      [
        'command.cwd: it is empty',
        'command.env.A-B: it is not the name of a variable',
        'command.env.ROTA_JOB: names that begin with ROTA_ are set by Rota',
        'command.env.N: 1 is not a text (a text; write a number or true in quotes)',
      ],
    ],
    [
      { http: { url: 'example.org' } },
      ['http.url: "example.org" is not an address (an address such as https://example.org/hook)'],
    ],
    [{ http: { url: 'file:///etc/passwd' } }, ['http.url: file: is not supported (http: or https:)']],
    [
      { http: { url: 'https://me:secret@example.org' } },
      ['http.url: the address contains a user name or password (an authorization header instead)'],
    ],
    [
      { http: { url, method: 'post' } },
      [
        'http.method: "post" is not allowed; did you mean POST? (GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS)',
      ],
    ],
    [
      { http: { url, method: 'GET', body: {} } },
      ['http.body: a GET request has no body (a method such as POST, or no body)'],
    ],
    [
      { http: { url, headers: { Host: 'x', 'a b': 'x', ok: 'x\r\ny: z' } } },
      [
        'http.headers.Host: this header is set by Rota',
        'http.headers.a b: it is not the name of a header',
        'http.headers.ok: its text cannot be sent in a header',
      ],
    ],
    [
      { http: { link: url } },
      [
        'http.link: unknown option (url, method, headers, body, allowLiteralSecrets)',
        'http.url: nothing is not an address (an address such as https://example.org/hook)',
      ],
    ],
  ])('refuses %j', (input, faults) => {
    expect(faultsOf(input)).toEqual(faults)
  })
})

describe('a queue', () => {
  it('has a name and may have a limit', () => {
    expect(defineQueue('mail', { concurrency: 5 })).toEqual({ name: 'mail', concurrency: 5 })
    expect(defineQueue('constructor')).toEqual({ name: 'constructor', concurrency: undefined })
  })

  it('reports its faults', () => {
    expect(() => defineQueue('mail', { concurency: 5 } as object)).toThrow(
      'queue "mail" is not valid: concurency: unknown option; did you mean concurrency? (allowed: concurrency, limit)',
    )
  })
})

it.each([
  [{ max: 10, per: '1m' }, { max: 11, per: '1m' }, '11 in 1m contradicts `limit` (10 in 1m)'],
  [{ max: 60, per: '1h' }, { max: 2, per: '1m' }, '2 in 1m contradicts `limit` (60 in 1h)'],
  [{ max: 60, per: '1h' }, { max: 1, per: '1m', burst: 5 }, undefined],
  [{ max: 60, per: '1h' }, { max: 5, per: '1h' }, undefined],
])('a key may not start more than its whole job: limit %j, limitPerKey %j', (limit, limitPerKey, refused) => {
  const define = () => defineJob('work', { command: ['true'], limit, limitPerKey })
  if (refused === undefined) expect(define).not.toThrow()
  else expect(define).toThrow(`limitPerKey: ${refused}`)
})

it('a key may not have more runs at once than its whole job', () => {
  const options = { command: ['true'], concurrency: 2, concurrencyPerKey: 5 }
  expect(() => defineJob('work', options)).toThrow('concurrencyPerKey: 5 contradicts `concurrency` (2)')
  expect(defineJob('work', { ...options, concurrencyPerKey: 2 })).toMatchObject({ concurrencyPerKey: 2 })
})
