import { expect, it } from 'vitest'
import { allRoutes } from '../../src/app/serve/served.js'
import { program } from '../../src/cli/commands.js'
import { withSubcommands } from '../../src/cli/framework/subcommand.js'
import { isWhole } from '../features.js'

/** The routes that do the same as a command; or the reason why there are none. */
const routesOf: Readonly<Record<string, readonly string[] | { readonly none: string }>> = {
  init: { none: 'it writes a config file into the directory of the user' },
  up: { none: 'it is the process that serves' },
  mcp: { none: 'it speaks another protocol over the same routes' },
  migrate: { none: 'it moves the store from under the process that serves it' },
  completion: { none: 'it prints a script for a shell' },
  list: ['GET /triggers', 'GET /jobs', 'GET /queues'],
  show: ['GET /triggers/{name}', 'GET /triggers/{name}/versions', 'GET /jobs/{name}', 'GET /runs/{id}'],
  runs: ['GET /runs'],
  logs: ['GET /runs/{id}/logs'],
  run: ['POST /triggers/{name}/run', 'POST /runs', 'GET /runs/{id}/logs'],
  enqueue: ['POST /runs'],
  cancel: ['POST /runs/{id}/cancel', 'POST /bulk'],
  retry: ['POST /runs/{id}/retry', 'POST /bulk'],
  add: ['POST /triggers', 'POST /jobs'],
  remove: ['DELETE /triggers/{name}', 'DELETE /jobs/{name}'],
  backfill: [
    'POST /triggers/{name}/backfills',
    'GET /backfills',
    'GET /backfills/{id}',
    'POST /backfills/{id}/start',
    'POST /backfills/{id}/cancel',
  ],
  why: ['GET /why', 'GET /runs/{id}/pending'],
  next: ['POST /preview', 'GET /triggers/{name}/next'],
  coverage: ['GET /coverage'],
  simulate: ['GET /simulation'],
  doctor: ['GET /doctor'],
  check: { none: 'it reads a config file with the files that it names, on the machine of the user' },
  lint: { none: 'the same as check' },
  reload: ['POST /reload'],
  diff: { none: 'the same as check; PATCH /triggers/{name} with dryRun compares one trigger' },
  history: ['GET /audit', 'GET /triggers/{name}/history'],
  'alert list': ['GET /alerts'],
  'alert test': ['POST /alerts/test'],
  'bulk list': ['GET /bulk'],
  'bulk show': ['GET /bulk/{id}'],
  'bulk abort': ['POST /bulk/{id}/abort'],
  'calendar list': ['GET /calendars'],
  'calendar show': ['GET /calendars/{name}'],
  pause: ['POST /triggers/{name}/pause', 'POST /queues/{name}/pause'],
  resume: ['POST /triggers/{name}/resume', 'POST /queues/{name}/resume'],
  freeze: ['POST /freeze'],
  thaw: ['POST /thaw'],
  switch: ['GET /switches', 'POST /switches/{name}'],
  workers: ['GET /workers'],
  'workers list': ['GET /workers'],
  'workers drain': ['POST /workers/{target}/drain'],
  'workers undrain': ['POST /workers/{target}/undrain'],
  'token create': ['POST /tokens'],
  'token list': ['GET /tokens'],
  'token revoke': ['DELETE /tokens/{id}'],
  'asset list': ['GET /assets'],
  'asset show': ['GET /assets/{name}', 'GET /assets/{name}/partitions'],
  'asset grid': ['GET /assets/{name}/partitions'],
  'asset stale': ['GET /assets/{name}/partitions'],
  'asset materialize': ['POST /assets/{name}/materialize'],
  'asset backfill': ['POST /backfills/plan', 'POST /backfills', 'GET /backfills/{id}'],
  'job add': ['POST /command-jobs'],
  'job remove': ['DELETE /command-jobs/{id}'],
  'job get': ['GET /command-jobs/{id}'],
  'job list': ['GET /command-jobs'],
  'job run': ['POST /command-jobs/{id}/run'],
  'job cleanup': ['POST /command-jobs/cleanup'],
  import: ['POST /command-jobs/import'],
  export: ['GET /command-jobs/export'],
  'plan check': ['GET /plans', 'GET /plans/{plan}'],
  'plan enqueue': ['POST /plans/{plan}/entries/{id}/enqueue'],
  schedule: ['GET /plans/{plan}/pass'],
  work: { none: 'cron starts it for one run of a queue directory; a process that serves has a worker' },
  'queue list': {
    none: 'a queue directory is the store of no app; served as a store, its runs are GET /runs',
  },
  'queue show': { none: 'the same as queue list: GET /runs/{id}' },
  'queue retry': { none: 'the same as queue list: POST /runs/{id}/retry' },
  'queue requeue': { none: 'a process that serves takes over the runs of dead workers by itself' },
  'queue purge': { none: 'a process that serves removes old runs by itself' },
  'round start': ['PUT /rounds/{name}', 'POST /rounds/{name}/start'],
  'round stop': ['POST /rounds/{name}/stop'],
  'round status': ['GET /rounds/{name}'],
  'round timing': ['GET /services', 'GET /services/{name}'],
  'round timing set': ['PUT /services/{name}/timing'],
  'round state': ['GET /rounds/{name}'],
  'round list': ['GET /rounds'],
  'sensor list': ['GET /sensors'],
  'sensor show': ['GET /sensors/{name}'],
  'sensor history': ['GET /sensors/{name}/evaluations'],
  'sensor preview': ['POST /sensors/{name}/preview'],
  'sensor reset': ['POST /sensors/{name}/reset'],
  'sensor pause': ['POST /triggers/{name}/pause'],
  'sensor resume': ['POST /triggers/{name}/resume'],
}

it('every command has its routes, or a reason why it has none', async () => {
  const entries = Object.entries(await program.commands())
  const commands = await Promise.all(
    entries.map(async ([name, entry]) => withSubcommands(await entry.load(), name)),
  )
  const paths = commands.flat().flatMap(({ command, path }) => (command.run === undefined ? [] : [path]))
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter((path) => routesOf[path] === undefined)).toEqual([])
  const served = new Set(
    (await allRoutes({ isMounted: false })).map(({ method, path }) => `${method} ${path}`),
  )
  const missing = paths.flatMap((path) => {
    const routes = routesOf[path]
    return routes === undefined || 'none' in routes ? [] : routes.filter((route) => !served.has(route))
  })
  // A command may use the routes of a removed feature.
  if (isWhole) expect(missing).toEqual([])
  // A removed command must have no line here.
  if (isWhole) expect(Object.keys(routesOf).filter((path) => !paths.includes(path))).toEqual([])
})
