/** The routes of alerts. */
import { z } from 'zod'
import { alertKinds } from '../../kernel/alert/notice.js'
import { change, instant, json, maybeInstant, name } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { AlertsApp } from './api.js'
import { statusView, testView } from './views.js'

const group = 'Alerts'
const kind = z.enum(['webhook', 'slack', 'discord', 'command', 'email'])
const status = z
  .strictObject({
    channels: z.array(
      z.strictObject({
        name: z.string(),
        kind,
        source: z.string(),
        lastSentAt: maybeInstant,
        lastFailure: z.strictObject({ run: z.string(), at: instant, text: z.string() }).nullable(),
      }),
    ),
    rules: z.array(
      z.strictObject({
        source: z.string(),
        name: z.string(),
        on: z.array(z.enum(alertKinds)),
        channels: z.array(z.string()),
        jobs: z.array(z.string()).nullable(),
        triggers: z.array(z.string()).nullable(),
        groupMs: z.number(),
        quietMs: z.number(),
      }),
    ),
    subjects: z.array(
      z.strictObject({
        source: z.string(),
        rule: z.string(),
        subject: z.string(),
        waiting: z.number().int(),
        sendAt: maybeInstant,
        quietUntil: maybeInstant,
        isFailing: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'AlertStatus' })
const tests = z.strictObject({
  tests: z.array(
    z.strictObject({ channel: z.string(), kind, sent: z.boolean(), result: json, tookMs: z.number() }),
  ),
})

/** Reads the state of alerts, and sends test messages. */
export const alertRoutes: readonly Route<AlertsApp>[] = [
  route({
    method: 'GET',
    path: '/alerts',
    role: 'read',
    group,
    summary: 'Reads the rules and channels of alerts, what was sent last, what waits and what is quiet.',
    about: 'The answer contains no addresses and no secrets of channels.',
    answer: status,
    example: {},
    handle: async ({ app }) => statusView(await app.alerts.list()),
  }),
  route({
    method: 'POST',
    path: '/alerts/test',
    role: 'operate',
    group,
    summary:
      'Sends a test message through one channel of the serving app, or all of them, and returns the results.',
    body: z.strictObject({ ...change, channel: name.max(64).optional() }),
    answer: tests,
    example: { body: { channel: 'ops', dryRun: true } },
    handle: async ({ app, body, change: asked }) => ({
      tests: testView(await app.alerts.test(body.channel, asked)),
    }),
  }),
]
