// Bundles the sources and the dashboard to dist/ from scratch, writes the types, the schemas of config, plan and pipeline files, and makes the command executable.
import { spawnSync } from 'node:child_process'
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'
import { buildDashboard } from './dashboard.mjs'
import { schemas } from './schemas.mjs'

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
  await bundle(root, next)
  writeSchemas()
  await buildDashboard(root, join(next, 'dashboard'))
  chmodSync(join(next, 'cli', 'main.js'), 0o755)
  // Replaced at the end, so that a program that runs from dist never sees half of a build.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  renameSync(next, join(root, 'dist'))
}
process.exitCode = status ?? 1

/** Editors complete files by their schemas. */
function writeSchemas() {
  for (const [name, schema] of Object.entries(schemas())) {
    writeFileSync(join(next, `rota.${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`)
  }
}
