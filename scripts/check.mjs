// node scripts/check.mjs: builds, then checks types, lint, unused code, the package and the format at the same time.
// Prints the output of those that fail.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// The longest first: a small machine has fewer cores than there are checks.
const checks = ['lint', 'typecheck', 'unused', 'publint', 'format:check']

// The package can only be checked when it is built.
const isBuilt = await passes('build')
const results = isBuilt ? await Promise.all(checks.map(passes)) : []
process.exitCode = isBuilt && !results.includes(false) ? 0 : 1

/** Runs a script of the package to its end, and prints its output if it fails. */
async function passes(script) {
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) console.error(`npm run ${script} failed:\n${Buffer.concat(output).toString().trimEnd()}\n`)
  return code === 0
}
