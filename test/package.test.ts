import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasFeatures } from './features.js'
import { root } from './repository.js'

const execute = promisify(execFile)
const minutes = 60_000

/** The packed package, and the empty project in which it is installed. */
let directory: string
let tarball: string
let project: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rota-package-'))
  // The tests use the existing build; building again would break tests that run at the same time.
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', directory)
  const [name = ''] = (await readdir(directory)).filter((file) => file.endsWith('.tgz'))
  tarball = join(directory, name)
  project = await mkdtemp(join(directory, 'project-'))
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  )
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error']
  await npm(project, 'install', ...flags, tarball)
}, 5 * minutes)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

test('the package has everything it needs and no tests', async () => {
  const { stdout } = await execute('tar', ['-tzf', tarball])
  const files = stdout
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''))
  expect(files).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'README.md', 'LICENSE']),
  )
  expect(files).toContain('dist/app/store/lease-thread.js')
  expect(files).toContain('dist/app/serve/api-process.js')
  expect(files).toContain('dist/app/simulate/simulation-thread.js')
  expect(
    files.filter((file) => /^dist\/.*(?:\.test\.|conformance)|^src\/|^test\/|\.db(?:-wal|-shm)?$/.test(file)),
  ).toEqual([])
})

test('it installs without a compiler, with few dependencies', async () => {
  const installed = await installedPackages()
  const bytes = (await stat(tarball)).size
  console.log(`${installed.length} packages; the tarball has ${Math.round(bytes / 1024)} KiB`)
  expect(installed.length).toBeLessThan(40)
  expect(bytes).toBeLessThan(2 * 1024 * 1024)
})

test('npx rota works in the project', async () => {
  const version = await rota('--version')
  expect(version.trim()).toMatch(/^\d+\.\d+\.\d+/)
  const next = JSON.parse(
    await rota('next', '0 9 * * *', '--count', '2', '--from', '2026-01-05T00:00:00Z', '--json'),
  ) as unknown
  expect(JSON.stringify(next)).toContain('2026-01-06T09:00:00Z')
})

test('a script imports it, runs a job on SQLite, and a test imports the fake clock', async () => {
  const script = `
    import { rota, nextOccurrences } from 'rota'
    import { FakeClock } from 'rota/testing'
    const app = rota({ store: 'sqlite:data/rota.db' })
    const double = app.job('double', (run) => ({ twice: run.payload * 2 }))
    await app.start()
    const { id } = await app.enqueue(double, 21)
    const { state, result } = await app.runs.wait(id)
    await app.stop()
    const [next] = nextOccurrences('@daily', { from: new Date(new FakeClock(0).now()) })
    console.log(JSON.stringify({ state, result, next }))
  `
  await writeFile(join(project, 'script.mjs'), script)
  const { stdout } = await execute(process.execPath, ['script.mjs'], { cwd: project })
  expect(JSON.parse(stdout)).toEqual({
    state: 'done',
    result: { twice: 42 },
    next: '1970-01-02T00:00:00.000Z',
  })
}, 120_000)

test('its types are found for all its entry points', async () => {
  const attw = join(root, 'node_modules', '.bin', 'attw')
  // Their entries in package.json are left where a tree has no such feature.
  const entries = [
    ...(hasFeatures('sensors') ? [] : ['sensors']),
    ...(hasFeatures('plans') ? [] : ['rota.plan.schema.json']),
  ]
  const absent = entries.length === 0 ? [] : ['--exclude-entrypoints', ...entries]
  const { code, stdout } = await execute(attw, ['--profile', 'esm-only', ...absent, '--', tarball]).then(
    (answer) => ({ code: 0, ...answer }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  )
  expect(code, stdout).toBe(0)
}, 120_000)

async function npm(cwd: string, ...words: readonly string[]): Promise<void> {
  await execute('npm', words, { cwd, timeout: 4 * minutes })
}

async function rota(...words: readonly string[]): Promise<string> {
  const { stdout } = await execute('npx', ['--no-install', 'rota', ...words], { cwd: project })
  return stdout
}

async function installedPackages(): Promise<string[]> {
  const { stdout } = await execute('npm', ['ls', '--all', '--parseable'], { cwd: project })
  return stdout.trim().split('\n').slice(1)
}
