// Compiles the sources to dist/ from scratch and makes the command executable.
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
)

rmSync(join(root, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) chmodSync(join(root, 'dist', 'cli', 'main.js'), 0o755)
process.exitCode = status ?? 1
