// Compiles the sources to dist/ from scratch, writes the schema of config files, and makes the command executable.
import { spawnSync } from 'node:child_process'
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
const next = join(root, 'dist.next')

rmSync(next, { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', next],
  { cwd: root, stdio: 'inherit' },
)
if (status === 0) {
  await writeConfigSchema()
  chmodSync(join(next, 'cli', 'main.js'), 0o755)
  // Only now, so that whatever runs from dist never meets half of a build.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  renameSync(next, join(root, 'dist'))
}
process.exitCode = status ?? 1

/** Editors complete a config by its schema; the shape itself is needed only to write it, so the package does without zod. */
async function writeConfigSchema() {
  const shape = join(next, 'plan', 'config-shape')
  const { configShape } = await import(pathToFileURL(`${shape}.js`).href)
  const schema = z.toJSONSchema(configShape, { io: 'input' })
  writeFileSync(
    join(next, 'rota.config.schema.json'),
    `${JSON.stringify({ title: 'Rota config', ...schema }, null, 2)}\n`,
  )
  for (const ending of ['.js', '.d.ts']) rmSync(shape + ending)
}
