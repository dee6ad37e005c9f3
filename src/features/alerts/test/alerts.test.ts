import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createHttp, type IncomingHttpHeaders } from 'node:http'
import { createServer as createTcp, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { decide } from '../../../kernel/run/outcome.js'
import type { AlertMessage } from '../message.js'

/** The package is optional: `npm ci` installs it. */
const hasMailer = existsSync(new URL('../../../../node_modules/nodemailer', import.meta.url))

const secret = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real receiver that refuses a given number of requests. */
class Receiver {
  readonly received: Received[] = []
  refusals = 0
  readonly #server = createHttp((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isRefused = this.refusals-- > 0
      if (!isRefused)
        this.received.push({
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        })
      response.writeHead(isRefused ? 503 : 204).end()
    })
  })

  async listen(): Promise<string> {
    return await listening(this.#server)
  }

  messages(path: string): readonly AlertMessage[] {
    return this.received
      .filter((one) => one.path === path)
      .map(({ body }) => JSON.parse(body) as AlertMessage)
  }

  /** Waits until this many messages have arrived. */
  async until(count: number): Promise<void> {
    await vi.waitFor(() => expect(this.received.length).toBeGreaterThanOrEqual(count), { timeout: 20_000 })
  }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

let directory: string
let app: Rota
let receiver: Receiver
let address: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-alerts-'))
  receiver = new Receiver()
  address = await receiver.listen()
  process.env['ALERT_TEST_SECRET'] = secret
  process.env['ALERT_TEST_URL'] = `http://${address}/services/T000/B000/xoxb-secret-part`
  app = rota({ store: `sqlite:${join(directory, 'store.db')}`, directory })
})

afterEach(async () => {
  await app.stop()
  await rm(directory, { recursive: true, force: true })
  delete process.env['ALERT_TEST_SECRET']
  delete process.env['ALERT_TEST_URL']
})

function hook(path = '/hook'): void {
  app.alerts.channel('hook', {
    webhook: { url: `http://${address}${path}`, secret: { env: 'ALERT_TEST_SECRET' } },
  })
}

describe('alerts of a running app', () => {
  it('report a burst of failures in one signed message, then the recovery, and nothing that no rule matches', async () => {
    hook()
    app.alerts.rule('all', { channels: ['hook'], group: '300ms', quiet: '1h' })
    let isBroken = true
    app.job('work', () => {
      if (isBroken) throw new Error('the disk is full')
    })
    app.job('silent', () => Promise.reject(new Error('nobody cares')), { alerts: false })
    app.job(
      'retried',
      ({ attempt }) => {
        if (attempt < 3) throw new Error('not yet')
      },
      { retry: { attempts: 3, delay: 0 } },
    )
    await app.start()
    await app.enqueue('silent')
    const retried = await app.enqueue('retried')
    const runs = await Promise.all(Array.from({ length: 5 }, () => app.enqueue('work')))
    await receiver.until(1)
    const [first] = receiver.messages('/hook')
    expect(first).toMatchObject({
      rule: 'all',
      isTest: false,
      count: 5,
      title: '5 failed runs: work',
      more: 0,
    })
    expect(first?.items).toMatchObject([{ on: 'failure', job: 'work', trigger: null, count: 5 }])
    expect(first?.items[0]?.examples).toHaveLength(3)
    expect(first?.items[0]?.examples[0]?.text).toBe('the disk is full')
    const { headers, body } = receiver.received[0] as Received
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const key = Buffer.from(secret.slice(6), 'base64')
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
    await retried.result()
    // Quiet time: the next failure waits, and is reported with the recovery.
    await app.enqueue('work')
    await vi.waitFor(
      async () => expect(await subjects()).toMatchObject([{ subject: 'failure work', waiting: 1 }]),
      { timeout: 10_000 },
    )
    isBroken = false
    await app.enqueue('work')
    await receiver.until(2)
    expect(receiver.messages('/hook')[1]).toMatchObject({ count: 2, title: '1 failed run, 1 recovery: work' })
    expect(await subjects()).toEqual([])
    expect(runs).toHaveLength(5)
    await vi.waitFor(async () =>
      expect(await app.runs.list({ job: 'alert:hook', state: 'done' })).toHaveLength(2),
    )
  })

  it('are sent again until the receiver accepts them, and are not reported themselves', async () => {
    hook()
    app.alerts.rule('all', { channels: ['hook'], group: 0, quiet: 0 })
    app.job('work', () => Promise.reject(new Error('no')))
    receiver.refusals = 1
    await app.start()
    await app.enqueue('work')
    await receiver.until(1)
    expect(receiver.messages('/hook').map(({ count }) => count)).toEqual([1])
    const [sent] = await vi.waitFor(async () => {
      const done = await app.runs.list({ job: 'alert:hook', state: 'done' })
      expect(done).toHaveLength(1)
      return done
    })
    expect(sent?.failures).toBe(1)
  })

  it('are not given up when one worker after another crashes while it sends them', async () => {
    hook()
    await app.start()
    const { job } = await app.jobs.get('alert:hook')
    const run = { id: 'r', dueAt: 0, failures: 0, crashes: 20 }
    const lost = { kind: 'lost', error: { code: 'ATTEMPT_LOST', message: 'gone' } } as const
    expect(decide(lost, { run, job, now: 0 })).toMatchObject({ state: 'pending' })
  })

  async function subjects() {
    return (await app.alerts.list()).subjects
  }
})

describe('a test message', () => {
  it('is sent through Slack, Discord and a command, and its error shows no secret', async () => {
    hook()
    app.alerts.channel('slack', { slack: { url: { env: 'ALERT_TEST_URL' } } })
    app.alerts.channel('discord', { discord: { url: { env: 'ALERT_TEST_URL' } } })
    app.alerts.channel('page', {
      command: ['node', '-e', 'require("fs").writeFileSync("page.json", process.env.ROTA_PAYLOAD)'],
    })
    const tests = await app.alerts.test(undefined)
    expect(tests.map(({ channel, isSent }) => [channel, isSent])).toEqual([
      ['hook', true],
      ['slack', true],
      ['discord', true],
      ['page', true],
    ])
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    expect(bodies.find(({ text }) => text !== undefined)?.['text']).toBe('*This is a test of Rota’s alerts.*')
    expect(bodies.find(({ content }) => content !== undefined)).toEqual({
      content: 'This is a test of Rota’s alerts.',
      allowed_mentions: { parse: [] },
    })
    expect(JSON.parse(await readFile(join(directory, 'page.json'), 'utf8'))).toMatchObject({ isTest: true })
    receiver.refusals = 1
    const [refused] = await app.alerts.test('slack')
    expect(refused).toMatchObject({ isSent: false, result: 'the receiver answered 503: ' })
    process.env['ALERT_TEST_URL'] = 'http://127.0.0.1:1/services/T000/B000/xoxb-secret-part'
    const [away] = await app.alerts.test('slack')
    expect(away?.isSent).toBe(false)
    expect(JSON.stringify(away?.result)).toContain('connection refused')
    expect(JSON.stringify(away?.result)).not.toContain('xoxb-secret-part')
    await expect(app.alerts.test('slak')).rejects.toThrow(/no channel slak; did you mean slack\?/)
    const history = await app.history({ limit: 9 })
    expect(history.map(({ action }) => action)).toContain('alert.test')
    expect(JSON.stringify([history, await app.alerts.list()])).not.toContain('xoxb')
  })

  it.skipIf(!hasMailer)('is sent as an e-mail through a mail server', async () => {
    const mails: string[] = []
    process.env['ALERT_TEST_URL'] = `smtp://ann:pa%24s-word@${await mailServer(mails)}`
    app.alerts.channel('mail', {
      email: {
        server: { env: 'ALERT_TEST_URL' },
        from: 'rota@example.org',
        to: ['ops@example.org', 'bob@example.org'],
      },
    })
    expect(await app.alerts.test('mail')).toMatchObject([{ isSent: true, result: { response: '250 taken' } }])
    expect(mails[0]).toMatch(/To: ops@example.org, bob@example.org/)
    expect(mails[0]).toMatch(/Subject: =\?UTF-8\?Q\?Rota=3A_This_is_a_test/i)
    expect(mails[0]).toMatch(/Auto-Submitted: auto-generated/)
    process.env['ALERT_TEST_URL'] = `smtp://ann:wrong-pass@${await mailServer(mails)}`
    const [refused] = await app.alerts.test('mail')
    expect(refused).toMatchObject({ isSent: false })
    expect(JSON.stringify(refused?.result)).toMatch(/535/)
    expect(JSON.stringify(refused?.result)).not.toMatch(/wrong-pass/)
  })
})

/** A small mail server that accepts mails from Ann. */
async function mailServer(mails: string[]): Promise<string> {
  const server = createTcp((socket) => {
    let text = ''
    let isData = false
    socket.write('220 test\r\n')
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk.toString()
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = text.slice(0, end)
        text = text.slice(end + (isData ? 5 : 2))
        if (isData) mails.push(line)
        socket.write(isData ? '250 taken\r\n' : answerTo(line))
        isData = !isData && line === 'DATA'
      }
    })
  })
  return await listening(server)
}

function answerTo(line: string): string {
  const [word = '', , third = ''] = line.split(' ')
  if (word === 'EHLO') return '250-test\r\n250 AUTH PLAIN\r\n'
  if (word === 'AUTH')
    return Buffer.from(third, 'base64').toString() === '\0ann\0pa$s-word'
      ? '235 ok\r\n'
      : '535 who are you\r\n'
  if (word === 'DATA') return '354 go on\r\n'
  return word === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n'
}

describe('options that contradict each other are refused with their places', () => {
  it.each([
    [
      () => app.alerts.channel('x', { slack: { url: 'https://hooks.slack.com/x' as never } }),
      /slack\.url: a secret does not belong in a definition/,
    ],
    [
      () => app.alerts.channel('x', { slack: { url: { env: 'A' } }, command: ['x'] }),
      /slack and command contradict each other/,
    ],
    [() => app.alerts.channel('x', {}), /it does not say where messages go/],
    [
      () => app.alerts.channel('x', { email: { server: 'smtp://a:b@c', from: 'a@b', to: 'x' } }),
      /email\.server: a secret.*email\.to: "x" is not a mail address/,
    ],
    [() => app.alerts.rule('x', { channels: ['a'], on: ['recovery'] }), /on: recovery needs failure/],
    [
      () => app.alerts.rule('x', { channels: ['a'], group: '1m', quiet: '5s' }),
      /quiet: it is shorter than `group`/,
    ],
    [
      () => app.alerts.rule('x', { channels: ['a'], jobs: ['b'], on: ['worker-lost'] }),
      /on: worker-lost contradicts `jobs`/,
    ],
    [
      () => app.alerts.rule('x', { channels: ['a'], triggers: ['b'], on: ['worker-lost'] }),
      /on: worker-lost contradicts `triggers`/,
    ],
    [
      () => app.alerts.rule('x', { channels: ['a'], jobs: ['b', 'alert:a'] }),
      /jobs: alert:a contradicts `channels`/,
    ],
    [() => app.alerts.rule('x', { channels: [] }), /channels: a list is not a list of channels/],
    [
      () => app.alerts.rule('x', { channels: ['a'], on: ['falure' as never] }),
      /on\[0\]: "falure" is not allowed; did you mean failure\?/,
    ],
  ])('%#', (define, message) => {
    expect(define).toThrow(message)
  })

  it('also between definitions', async () => {
    app.alerts.rule('all', { channels: ['pos'] })
    app.job('work', () => undefined, { alerts: ['oops'] })
    hook()
    await expect(app.start()).rejects.toThrow(
      /alerts\.rules\.all\.channels\[0\]: no channel is named pos.*jobs\.work\.alerts\[0\]: no channel is named oops/,
    )
  })
})
