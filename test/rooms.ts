/** The folders that each folder may import, as the architecture says, and its packages. */
export const rooms: Readonly<Record<string, { rooms: readonly string[]; packages?: readonly string[] }>> = {
  // Escapes and shortens text from outside.
  text: { rooms: [] },
  time: { rooms: ['text'] },
  kernel: { rooms: ['text', 'time'] },
  port: { rooms: ['kernel', 'time'] },
  memory: { rooms: ['port', 'kernel', 'time'] },
  sql: { rooms: ['port', 'kernel', 'time'] },
  sqlite: { rooms: ['sql', 'port', 'kernel', 'time'], packages: ['@photostructure/sqlite'] },
  postgres: { rooms: ['sql', 'port', 'kernel', 'time'], packages: ['pg'] },
  // It keeps the tables of the memory store and decides with the same functions.
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
  // Their commands use only the framework; apps, configs and stores are passed to them.
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
