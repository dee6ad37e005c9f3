import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../repository.js'

const all = readdirSync(join(root, 'src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
/** `FEATURES=assets,bus` tries these only. */
const features = process.env['FEATURES']?.split(',') ?? all
/** `TESTS='src/app test/cli'` runs these only. */
const paths = process.env['TESTS']?.split(' ') ?? []

/** Tests with kills, broken networks and load say nothing about imports, and take long. */
const leftOut = /^test\/(?:kill|faults|load)\/.*\.test\.ts$|\/kill\.test\.ts$/

it.each(features)('the tree without the folder of %s compiles, and its other tests pass', async (feature) => {
  const tree = await treeWithout(feature)
  const binary = (name: string): string => join(root, 'node_modules', name)
  const types = await run(tree, [binary('typescript/bin/tsc'), '--noEmit'])
  expect(types, types.output).toMatchObject({ code: 0 })
  const build = await run(tree, ['scripts/build.mjs'])
  expect(build, build.output).toMatchObject({ code: 0 })
  const tests = await run(tree, [binary('vitest/vitest.mjs'), 'run', '--reporter=dot', ...paths])
  expect(tests, tests.output).toMatchObject({ code: 0 })
})

/** A copy of the tracked files without one feature: without its folder, its line in the list, and its tests with other features. */
async function treeWithout(feature: string): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), `rota-without-${feature}-`))
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }))
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  for (const path of tracked) {
    if (path === '' || leftOut.test(path) || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    cpSync(join(root, path), join(tree, path))
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  rmSync(join(tree, 'src/features', feature), { recursive: true })
  const list = join(tree, 'src/features/index.ts')
  const lines = readFileSync(list, 'utf8').split('\n')
  const others = lines.filter((line) => !line.includes(`'./${feature}/index.js'`))
  expect(others).toHaveLength(lines.length - 1)
  writeFileSync(list, others.join('\n'))
  const shared = join(tree, 'test/features')
  for (const name of readdirSync(shared)) {
    if (name.split('+').includes(feature)) rmSync(join(shared, name), { recursive: true })
  }
  return tree
}

async function run(cwd: string, line: readonly string[]): Promise<{ code: number | null; output: string }> {
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env
  return await new Promise((resolve) => {
    // A separate directory for temporary files, because tests compare the lengths of paths.
    const TMPDIR = dirname(tmpdir())
    const options = { cwd, env: { ...env, TMPDIR, DAYS: '10' }, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(process.execPath, line, options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, output: `${stdout}${stderr}`.slice(-20_000) })
    })
  })
}
