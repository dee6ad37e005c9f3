/** The routes of sensors. A sensor is paused and resumed as the trigger of its name. */
import { z } from 'zod'
import { change, instant, json, maybeInstant, name, page, pageOf, paging } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import type { SensorsApp } from './commands.js'
import { previewView, sensorView } from './json-views.js'

const group = 'Sensors'
const parts = z.strictObject({ name })
const evaluation = z
  .looseObject({
    number: z.number().int(),
    kind: z.enum(['trigger', 'no-trigger', 'error', 'delivered']),
    reason: z.string().nullable(),
    fromAt: instant,
    untilAt: instant,
    count: z.number().int(),
    observations: z.number().int(),
    fresh: z.number().int(),
    tookMs: z.number(),
  })
  .meta({ id: 'Evaluation' })
const sensor = z
  .strictObject({
    name,
    type: z.string(),
    job: name,
    condition: z.enum(['waiting', 'ok', 'failing', 'broken', 'paused', 'off', 'ended']),
    everyMs: z.number(),
    timeoutMs: z.number(),
    timezone: z.string(),
    dedupe: z.strictObject({ by: z.string(), forMs: z.number().nullable() }),
    pauseAfter: z.number().int().nullable(),
    nextAt: maybeInstant,
    pollingSinceAt: maybeInstant,
    pause: z.strictObject({ by: z.string(), note: z.string(), untilAt: maybeInstant }).nullable(),
    polls: z.number().int(),
    found: z.number().int(),
    failures: z.number().int(),
    lagMs: z.number(),
    lastPollAt: maybeInstant,
    lastSuccessAt: maybeInstant,
    lastFoundAt: maybeInstant,
    last: evaluation.nullable(),
  })
  .meta({ id: 'Sensor' })
const preview = z
  .strictObject({
    kind: z.enum(['trigger', 'no-trigger', 'error']),
    reason: z.string().nullable(),
    observations: z.array(z.looseObject({ isNew: z.boolean() })),
    more: z.boolean(),
    before: json,
    after: json,
  })
  .meta({ id: 'SensorPreview' })
const state = json.optional().meta({ description: 'The state to begin with; default: its own.' })

/** Reads, previews and resets sensors. */
export const sensorRoutes: readonly Route<SensorsApp>[] = [
  route({
    method: 'GET',
    path: '/sensors',
    role: 'read',
    group,
    summary: 'Lists all sensors, by name, with their condition.',
    query: z.strictObject(paging),
    answer: page(sensor),
    example: {},
    handle: async ({ app, query }) =>
      pageOf((await app.sensors.list()).map(sensorView), query, (one) => one.name),
  }),
  route({
    method: 'GET',
    path: '/sensors/{name}',
    role: 'read',
    group,
    summary: 'Reads one sensor with its state.',
    parts,
    answer: sensor.extend({ state: json }).meta({ id: 'SensorWithState' }),
    example: { parts: { name: 'inbox' } },
    handle: async ({ app, parts: given }) => {
      const found = await app.sensors.get(given.name)
      return { ...sensorView(found), state: found.record.state }
    },
  }),
  route({
    method: 'GET',
    path: '/sensors/{name}/evaluations',
    role: 'read',
    group,
    summary: 'Lists the results of the polls and deliveries of a sensor, newest first.',
    about: 'Equal results in a row are one. At most 201 are kept.',
    parts,
    query: z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(20) }),
    answer: z.strictObject({ items: z.array(evaluation) }),
    example: { parts: { name: 'inbox' }, query: { limit: '5' } },
    handle: async ({ app, parts: given, query: { limit } }) => ({
      items: (await app.sensors.history(given.name)).slice(0, limit),
    }),
  }),
  route({
    method: 'POST',
    path: '/sensors/{name}/preview',
    role: 'operate',
    group,
    summary: 'Polls a sensor once and changes nothing.',
    about: 'The process that serves the request must define the sensor. A poll that fails is an answer, too.',
    parts,
    body: z.strictObject({ state, limit: z.number().int().min(1).max(1000).default(100) }),
    answer: preview,
    example: { parts: { name: 'inbox' }, body: { limit: 10 } },
    handle: async ({ app, parts: given, body: { state: from, limit } }) => {
      const found = previewView(await app.sensors.preview(given.name, { state: from as never }))
      return { ...found, observations: found.observations.slice(0, limit) }
    },
  }),
  route({
    method: 'POST',
    path: '/sensors/{name}/reset',
    role: 'operate',
    group,
    summary: 'Lets a sensor start again, or from a given state.',
    about: 'A dry run does not count the keys: `forgotten` is null.',
    parts,
    body: z.strictObject({
      ...change,
      forgetKeys: z.boolean().meta({
        description: 'Whether it also forgets the keys it has seen: everything that it finds is then new.',
      }),
      state,
    }),
    answer: z.strictObject({ sensor: name, forgotten: z.number().int().nullable() }),
    example: { parts: { name: 'inbox' }, body: { forgetKeys: false, dryRun: true } },
    handle: async ({ app, change, parts: given, body: { forgetKeys: keys, state: from } }) => ({
      sensor: given.name,
      ...(await app.sensors.reset(given.name, { keys, state: from as never, ...change })),
    }),
  }),
]
