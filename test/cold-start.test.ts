import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { rota } from '../src/app/rota.js'
import { hasFeatures, type FeatureName } from './features.js'

/** Loading a file takes about half a millisecond, and a package several of them. */
describe('a cold start loads only what it needs', () => {
  const sqlite = ['@photostructure/sqlite', 'node-gyp-build']
  const lines: readonly { argv: string[]; most: number; packages?: string[]; feature?: FeatureName }[] = [
    { argv: ['--help'], most: 6 },
    // One of them has the SLA options, which `rota add` also has.
    { argv: ['round', '--help'], most: 13, feature: 'rounds' },
    { argv: ['list', '--help'], most: 10 },
    { argv: ['next', '0 9 * * *'], most: 3, packages: ['cronstrue'] },
    { argv: ['queue', 'list', '--queue-dir', '.'], most: 28, packages: sqlite, feature: 'plans' },
  ]
  const known = lines.filter(({ feature }) => feature === undefined || hasFeatures(feature))

  test.each(known)('rota $argv.0 $argv.1: at most $most files', ({ argv, most, packages = [] }) => {
    const loaded = filesOf([join(dist, 'cli/main.js'), ...argv])
    expect(loaded.own.length).toBeLessThanOrEqual(most)
    expect(loaded.packages).toEqual(packages)
  })

  test('rota runs: at most 9 files, SQLite, and nothing that only an app needs', async () => {
    const store = `sqlite:${join(mkdtempSync(join(tmpdir(), 'rota-cold-')), 'rota.db')}`
    const app = rota({ store })
    await app.store()
    await app.close()
    const loaded = filesOf([join(dist, 'cli/main.js'), 'runs', '--store', store])
    expect(loaded.own.length).toBeLessThanOrEqual(9)
    expect(loaded.own.filter((file) => file.startsWith('chunks/app-'))).toEqual([])
    expect(loaded.packages).toEqual(sqlite)
  })

  test('an app that is not started: at most 4 files, and no package', () => {
    const code = `import { rota } from ${JSON.stringify(join(dist, 'index.js'))}; rota({ store: 'memory:' })`
    const loaded = filesOf(['--input-type=module', '--eval', code])
    expect(loaded.own.length).toBeLessThanOrEqual(4)
    expect(loaded.own).toContain('index.js')
    expect(loaded.packages).toEqual([])
  })
})

const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** The files of this package and the other packages that a process of Node.js loads, as V8 reports them with its coverage. */
function filesOf(args: readonly string[]): { own: string[]; packages: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'rota-cold-'))
  const env = { ...process.env, NODE_V8_COVERAGE: join(directory, 'coverage'), XDG_STATE_HOME: directory }
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const urls = readdirSync(env.NODE_V8_COVERAGE).flatMap((file) => {
    const text = readFileSync(join(env.NODE_V8_COVERAGE, file), 'utf8')
    return (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url)
  })
  const inDist = `file://${dist}/`
  const packages = urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  return {
    own: urls.filter((url) => url.startsWith(inDist)).map((url) => url.slice(inDist.length)),
    packages: [...new Set(packages)].toSorted(),
  }
}
