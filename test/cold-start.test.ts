import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findFeatures } from '../src/features/find-features.js'
import * as features from '../src/features/index.js'
import { hasFeatures, type FeatureName } from './features.js'

/** Loading a module takes about half a millisecond, so the number of modules says how fast a cold start is. */
describe('a cold start loads only what it needs', () => {
  const lines: readonly { argv: string[]; most: number; feature?: FeatureName }[] = [
    { argv: ['--help'], most: 30 },
    { argv: ['round', '--help'], most: 55, feature: 'rounds' },
    { argv: ['list', '--help'], most: 55 },
    { argv: ['next', '0 9 * * *'], most: 55 },
    { argv: ['queue', 'list', '--queue-dir', '.'], most: 159, feature: 'plans' },
  ]
  const known = lines.filter(({ feature }) => feature === undefined || hasFeatures(feature))

  test.each(known)('rota $argv.0 $argv.1: at most $most modules', ({ argv, most }) => {
    expect(modulesOf([join(dist, 'cli/main.js'), ...argv]).length).toBeLessThanOrEqual(most)
  })

  test('an app that is not started: at most 201 modules', () => {
    const code = `import { rota } from ${JSON.stringify(join(dist, 'index.js'))}; rota({ store: 'memory:' })`
    const loaded = modulesOf(['--input-type=module', '--eval', code])
    expect(loaded.length).toBeLessThanOrEqual(201)
    expect(loaded).toContain('app/rota.js')
  })

  test('the features that are found by their folders are those of the list, in its order', async () => {
    const found = (await findFeatures()).map(({ name }) => name)
    expect(found).toEqual(Object.values(features).map(({ name }) => name))
    expect(found.length).toBeGreaterThan(0)
  })
})

const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** The modules of this package that a process of Node.js loads, as V8 reports them with its coverage. */
function modulesOf(args: readonly string[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'rota-cold-'))
  const env = { ...process.env, NODE_V8_COVERAGE: join(directory, 'coverage'), XDG_STATE_HOME: directory }
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const urls = readdirSync(env.NODE_V8_COVERAGE).flatMap((file) => {
    const text = readFileSync(join(env.NODE_V8_COVERAGE, file), 'utf8')
    return (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url)
  })
  return urls.filter((url) => url.includes('/dist/')).map((url) => url.slice(url.indexOf('/dist/') + 6))
}
