/** The entries of `package.json`, and the thread that one of them starts. */
const published = [
  'index',
  'client/client',
  'testing/index',
  'cli/main',
  'app/store/lease-thread',
  'app/serve/api-process',
  'app/simulate/simulation-thread',
  'features/isolation/entry',
  'features/isolation/watch',
  'features/sensors/isolated-call',
  'features/sensors/kinds/index',
]

/** The modules of the build that tests, scripts and benchmarks of this repository use. */
const inner = [
  'app/features',
  'app/overview/now',
  'app/overview/series',
  'app/overview/timeline',
  'app/overview/usual',
  'app/serve/served',
  'app/store/exit-gate',
  'app/store/open-store',
  'cli/commands',
  'cli/framework/command',
  'cli/framework/help',
  'cli/framework/subcommand',
  'engine/upkeep/upkeep',
  'features/command-jobs/jobs-file',
  'features/rounds/facts',
  'features/rounds/plan',
  'features/sensors/kinds/files/sensor',
  'features/sensors/kinds/s3/listing',
  'features/sensors/kinds/s3/options',
  'features/sensors/kinds/s3/sensor',
  'features/sensors/kinds/sql/listen',
  'formats/config/config-module',
  'formats/version',
  'kernel/identity/identity',
  'kernel/job/job',
  'kernel/tick/tick',
  'server/access/tokens',
  'server/openapi',
  'server/problem',
  'store/files/files-store',
  'store/postgres/postgres-store',
  'store/sqlite/sqlite-store',
  'time/clock',
  'time/cron/schedule',
]

/** The modules that keep their place in `dist`; a deleted feature has none. */
export const entries = [...published, ...inner]

/**
 * Modules that are mostly loaded together are one file. A layer is everything that its roots import, without the
 * modules of earlier layers and without some folders. Everything else is divided by dynamic imports.
 */
export const layers = [
  { name: 'command', roots: ['cli/main', 'cli/commands/explain/next'] },
  {
    name: 'reading',
    roots: ['cli/commands/everyday/runs', 'store/sqlite/sqlite-store'],
    without: ['store/sql', 'store/sqlite', 'cli', 'wire'],
  },
  { name: 'app', roots: ['index', 'app/rota', 'features/index'] },
  {
    name: 'sql',
    roots: ['store/sqlite/sqlite-store', 'store/postgres/postgres-store'],
    without: ['store/sqlite', 'store/postgres'],
  },
  { name: 'sqlite', roots: ['store/sqlite/sqlite-store'] },
  { name: 'postgres', roots: ['store/postgres/postgres-store'] },
  { name: 'listing', roots: ['cli/commands/everyday/runs'] },
]
