/** The rooms that each room may look into, as the architecture says, and the packages that are its own. */
export const rooms: Readonly<Record<string, { rooms: readonly string[]; packages?: readonly string[] }>> = {
  // How texts of others are shown: escaped and bounded.
  text: { rooms: [] },
  time: { rooms: ['text'] },
  kernel: { rooms: ['text', 'time'] },
  port: { rooms: ['kernel', 'time'] },
  memory: { rooms: ['port', 'kernel', 'time'] },
  sql: { rooms: ['port', 'kernel', 'time'] },
  sqlite: { rooms: ['sql', 'port', 'kernel', 'time'], packages: ['@photostructure/sqlite'] },
  postgres: { rooms: ['sql', 'port', 'kernel', 'time'], packages: ['pg'] },
  // The memory store is its model: it keeps the same tables and decides with the same functions.
  files: {
    rooms: ['lock', 'port', 'memory', 'formats', 'kernel', 'time'],
    packages: ['@photostructure/sqlite'],
  },
  // The lock of a directory, which features share with the file store.
  lock: { rooms: ['kernel', 'time'], packages: ['@photostructure/sqlite'] },
  conformance: {
    rooms: ['engine', 'port', 'memory', 'kernel', 'time'],
    packages: ['vitest', 'fast-check'],
  },
  engine: { rooms: ['port', 'kernel', 'text', 'time'] },
  formats: {
    rooms: ['kernel', 'text', 'time'],
    packages: ['yaml', 'zod', '@swc/wasm-typescript'],
  },
  outbound: { rooms: ['formats', 'kernel', 'text', 'time'] },
  handlers: { rooms: ['engine', 'port', 'outbound', 'formats', 'kernel', 'text', 'time'] },
  // Their commands use the framework only; apps, configs and stores are handed to them.
  features: {
    rooms: [
      'framework',
      'wire',
      'lock',
      'engine',
      'handlers',
      'outbound',
      'formats',
      'port',
      'kernel',
      'text',
      'time',
    ],
    packages: ['@photostructure/sqlite', 'pg', '@aws-sdk/client-s3', 'chokidar', 'picomatch', 'yaml', 'zod'],
  },
  // Routes as data, schemas and views. Views are without zod: commands use them too.
  wire: { rooms: ['engine', 'port', 'kernel', 'text', 'time'], packages: ['zod'] },
  // Knows routes and stores, not the app.
  server: {
    rooms: ['wire', 'engine', 'port', 'kernel', 'text', 'time'],
    packages: [
      'zod',
      'hono/router/trie-router',
      '@hono/node-server',
      '@hono/node-server/utils/response',
      'prom-client',
      '@modelcontextprotocol/sdk/server/mcp.js',
      '@modelcontextprotocol/sdk/server/stdio.js',
      '@modelcontextprotocol/sdk/types.js',
    ],
  },
  client: { rooms: [] },
  testing: { rooms: ['engine', 'port', 'memory', 'kernel', 'time'] },
  app: {
    rooms: [
      'text',
      'time',
      'kernel',
      'port',
      'memory',
      'sqlite',
      'postgres',
      'files',
      'engine',
      'features',
      'formats',
      'outbound',
      'handlers',
      'testing',
      'wire',
      'server',
    ],
    packages: ['cronstrue', 'zod', '@opentelemetry/api'],
  },
  framework: { rooms: ['wire', 'kernel', 'text', 'time'], packages: ['picocolors'] },
  cli: {
    rooms: [
      'framework',
      'wire',
      'server',
      'app',
      'features',
      'engine',
      'port',
      'formats',
      'kernel',
      'text',
      'time',
    ],
    packages: ['@clack/prompts', 'pino'],
  },
  index: { rooms: ['app', 'features', 'engine', 'port', 'kernel', 'time'] },
}
