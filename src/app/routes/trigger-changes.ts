/** The routes that change a trigger's definition, and those that examine one trigger. */
import { z } from 'zod'
import type { Store } from '../../store/port.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { coverage, ledgerReason } from '../../wire/explain.js'
import { trigger } from '../../wire/definitions.js'
import { change, instant, instantInput, maybeInstant, name } from '../../wire/fields.js'
import { route, type Route } from '../../wire/route.js'
import { nextInstants } from '../explain/next-instants.js'
import { catchUpAtOnce, diffEdit, type Load } from '../explain/definition-diff.js'
import { loadTriggerKinds } from '../features.js'
import type { App } from '../rota.js'
import { triggerOf } from './triggers-page.js'

const group = 'Triggers'
const parts = z.strictObject({ name })
const shownInstants = 10

const load = z
  .strictObject({
    instants: z.number().int(),
    peak: z.number().int().meta({ description: 'How many are due in the busiest minute.' }),
    peakAt: maybeInstant,
    isCapped: z.boolean(),
  })
  .meta({ id: 'Load' })

/** Changes triggers. */
export const triggerChangeRoutes: readonly Route<App>[] = [
  route({
    method: 'PATCH',
    path: '/triggers/{name}',
    role: 'admin',
    group,
    summary: 'Changes options of a trigger that was added at run time.',
    about:
      'Omitted options do not change; `null` removes an option. If another source owns the trigger, the answer is 409 with the name of the source. The answer also lists which due instants the change adds, removes and moves within `days`, how the load of all triggers changes, and the dispositions of instants that are already due, like `rota diff`. `capped` means that there are more than were compared. `If-Match` takes the `ETag` of the trigger.',
    parts,
    body: z.strictObject({
      ...change,
      options: z.looseObject({}).meta({
        description: 'As a config file has them: `cron`, `every`, `timezone`, `catchUp`, `overlap` …',
      }),
      days: z.number().int().min(1).max(366).default(30),
    }),
    answer: z.strictObject({
      trigger,
      nextBefore: z.array(instant),
      nextAfter: z.array(instant),
      appear: z.array(instant),
      vanish: z.array(instant),
      moved: z
        .array(z.strictObject({ from: instant, to: instant }))
        .meta({ description: 'Instants that are replaced by another one on the same day.' }),
      capped: z.boolean(),
      load: z
        .strictObject({ before: load, after: load })
        .meta({ description: 'The due instants of all triggers, within seven days at most.' }),
      atOnce: z
        .strictObject({ runs: z.number().int(), skipped: z.array(ledgerReason) })
        .nullable()
        .meta({ description: 'The dispositions of instants that are already due; null: there are none.' }),
    }),
    example: {
      parts: { name: 'hourly' },
      body: { options: { every: '30m' }, days: 1, reason: 'more often', dryRun: true },
    },
    handle: async ({ app, parts: given, change: asked, body: { options, days } }) => {
      const now = app.now()
      const store = await app.store()
      // Read before the change, whose first tick plans the instants that are already due.
      const atOnce = await dueAlready(store, given.name, now)
      const { before, after } = await app.triggers.edit(given.name, options, asked)
      const schedules = { before: before.trigger.schedule, after: after.schedule }
      const found = await diffEdit(store, { before: before.trigger, after }, { now, days })
      const times = (instants: typeof found.appear) => instants.map(({ at }) => formatInstant(at))
      const nextOf = (schedule: typeof after.schedule) =>
        nextInstants(schedule, { after: now, count: shownInstants }).map(formatInstant)
      return {
        trigger: await triggerOf(app, given.name),
        nextBefore: nextOf(schedules.before),
        nextAfter: nextOf(schedules.after),
        appear: times(found.appear),
        vanish: times(found.vanish),
        moved: found.moved.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to.at) })),
        capped: found.isCapped,
        load: { before: loadView(found.load.before), after: loadView(found.load.after) },
        atOnce,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/triggers/{name}/coverage',
    role: 'read',
    group,
    summary: 'Compares the computed due instants of one trigger with the ledger.',
    parts,
    query: z.strictObject({ since: instantInput.optional() }),
    answer: coverage,
    example: { parts: { name: 'nightly' } },
    handle: async ({ app, parts: given, query: { since } }) => {
      const [found] = await app.coverage({ trigger: given.name, ...(since === undefined ? {} : { since }) })
      return found
    },
  }),
]

async function dueAlready(store: Store, name: string, now: Instant) {
  const own = await store.triggers({ names: [name], active: true })
  const [found] = await catchUpAtOnce(store, own, { kinds: await loadTriggerKinds(), now })
  return found === undefined ? undefined : { runs: found.runs, skipped: found.skipped }
}

/** With its instant as text: values below "before" and "after" are printed unchanged. */
function loadView({ peakAt, ...one }: Load) {
  return { ...one, peakAt: peakAt === undefined ? null : formatInstant(peakAt) }
}
