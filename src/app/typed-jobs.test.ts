import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { settle } from '../../test/fixtures/engine-stage.js'
import { FakeClock } from '../testing/fake-clock.js'
import { rota } from './rota.js'

function openApp() {
  const clock = new FakeClock(Date.UTC(2026, 0, 5))
  const app = rota({ store: 'memory:', clock })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  return { app, pass: (ms: number): Promise<void> => clock.advance(ms, settle) }
}

const mailSchema = z.object({ to: z.email(), copies: z.int().min(1).default(1) })

describe('a job with a schema', () => {
  it('types its handler, its enqueue and its result', async () => {
    const { app } = openApp()
    const mail = app.job('mail', {
      schema: mailSchema,
      handler: async ({ payload }) => {
        expectTypeOf(payload).toEqualTypeOf<{ to: string; copies: number }>()
        return { sent: payload.copies }
      },
    })
    type Types = NonNullable<(typeof mail)['types']>
    expectTypeOf<Types['payload']>().toEqualTypeOf<{ to: string; copies?: number | undefined }>()
    expectTypeOf<Types['result']>().toEqualTypeOf<{ sent: number }>()
    const run = await app.enqueue(mail, { to: 'ada@example.com' })
    expectTypeOf<ReturnType<(typeof run)['result']>>().resolves.toEqualTypeOf<{ sent: number }>()
    const noPayload = async (): Promise<unknown> =>
      // @ts-expect-error the payload is missing
      await app.enqueue(mail)
    await expect(noPayload()).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      faults: [{ path: 'payload' }],
    })
    const wrong = async (): Promise<unknown> =>
      // @ts-expect-error `to` is not a number
      await app.enqueue(mail, { to: 7 })
    await expect(wrong()).rejects.toMatchObject({ faults: [{ path: 'payload.to' }] })
    expect(await app.runs.list()).toHaveLength(1)
  })

  it('passes the output of the schema to its handler', async () => {
    const { app, pass } = openApp()
    const seen: unknown[] = []
    const mail = app.job('mail', {
      schema: mailSchema,
      handler: ({ payload }) => void seen.push(payload),
    })
    app.schedule('daily-mail', { job: mail, every: '1h', payload: { to: 'ada@example.com' } })
    await app.enqueue(mail, { to: 'bob@example.com', copies: 2 })
    await app.start()
    await pass(3_600_000)
    expect(seen).toEqual([
      { to: 'bob@example.com', copies: 2 },
      { to: 'ada@example.com', copies: 1 },
    ])
  })

  it('checks the payloads of triggers at the start, and runs by hand', async () => {
    const { app } = openApp()
    const mail = app.job('mail', { schema: mailSchema, handler: () => undefined })
    app.schedule('first', { job: mail, every: '1h', payload: { to: 'nobody' } })
    app.schedule('second', { job: 'mail', every: '1h' })
    await expect(app.start()).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'triggers.first.payload.to' }, { path: 'triggers.second.payload' }],
    })
    await expect(app.jobs.runNow('mail')).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  it('does not read its own output again when a failed start is repeated', async () => {
    const { app, pass } = openApp()
    const seen: unknown[] = []
    const length = z.string().transform((text) => text.length)
    const measure = app.job('measure', {
      schema: length,
      handler: ({ payload }) => void seen.push(payload),
    })
    app.schedule('hourly', { job: measure, every: '1h', payload: 'four' })
    app.schedule('faulty', { job: 'nothing', every: '1h' })
    await expect(app.start()).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    app.job('nothing', () => undefined)
    await app.start()
    await pass(3_600_000)
    expect(seen).toEqual([4])
  })

  it('is refused if the schema is invalid', () => {
    const { app } = openApp()
    const define = (): unknown =>
      // @ts-expect-error not a schema
      app.job('mail', { schema: { to: 'text' }, handler: () => undefined })
    expect(define).toThrow(/job "mail" is not valid: schema: .* is not a schema/)
  })
})

describe('a job without a schema', () => {
  it('needs the payload that its handler takes', () => {
    const { app } = openApp()
    const mail = app.job<{ to: string }>('mail', ({ payload }) => payload.to)
    const ping = app.job('ping', () => 'pong')
    expectTypeOf<NonNullable<(typeof ping)['types']>['result']>().toEqualTypeOf<string>()
    const calls = [
      (): unknown => app.enqueue(ping),
      (): unknown => app.enqueue('by-name'),
      (): unknown => app.enqueue(mail, { to: 'ada' }, { delay: '1h' }),
      // @ts-expect-error the payload is missing
      (): unknown => app.enqueue(mail),
      // @ts-expect-error the schedule's payload does not fit
      (): unknown => app.schedule('a', { job: mail, every: '1h', payload: { from: 'ada' } }),
      // @ts-expect-error the schedule's payload is missing
      (): unknown => app.schedule('b', { job: mail, every: '1h' }),
      // @ts-expect-error two schedules
      (): unknown => app.schedule('c', { job: ping, every: '1h', cron: '0 * * * *' }),
      // @ts-expect-error no schedule
      (): unknown => app.schedule('d', { job: ping }),
      (): unknown => app.schedule('e', { job: ping, at: new Date(0) }),
    ]
    expect(calls).toHaveLength(9)
  })
})
