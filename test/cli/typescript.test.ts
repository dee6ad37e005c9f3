import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { emptyDirectory, rota } from './rota.js'

function write(files: Readonly<Record<string, string>>): string {
  const directory = emptyDirectory()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

/** The store of a config: it does not exist, and the error names it. */
async function storeNamed(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stderr } = await rota(['list', '--config', 'rota.config.ts'], { cwd, env })
  return /sqlite:\S*\/(\w+)\.db does not exist/.exec(stderr)?.[1] ?? stderr
}

const config = `import { name } from './name.js'
const store: string = 'sqlite:' + name + '.db'
export default { store, jobs: {} }`

it('a config in TypeScript imports x.ts as ./x.js, and x.js if it exists', async () => {
  const text = `import { last } from './last.mjs'\nexport const name: string = 'from' + last`
  const cwd = write({ 'rota.config.ts': config, 'name.ts': text, 'last.mts': `export const last = 'Ts'` })
  expect(await storeNamed(cwd)).toBe('fromTs')
  writeFileSync(join(cwd, 'name.js'), `export const name = 'fromJs'`)
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
  expect(await storeNamed(cwd)).toBe('fromJs')
})

it('the error for a missing import has the name as written', async () => {
  expect(await storeNamed(write({ 'rota.config.ts': config }))).toMatch(/Cannot find module '\S+name\.js'/)
})

it('a loader of the user, such as tsx, reads TypeScript', async () => {
  // This loader accepts any text, which stripping types cannot.
  const hooks = `export async function load(url, context, next) {
    if (!url.endsWith('name.ts')) return next(url, context)
    return { format: 'module', shortCircuit: true, source: "export const name = 'loaded'" }
  }`
  const cwd = write({
    'rota.config.ts': config,
    'name.ts': `export enum Name { A }`,
    'hooks.mjs': hooks,
    'loader.mjs': `import { register } from 'node:module'\nregister('./hooks.mjs', import.meta.url)`,
  })
  expect(await storeNamed(cwd)).toContain('enum is not supported')
  const env = { NODE_OPTIONS: `--import ${join(cwd, 'loader.mjs')}` }
  expect(await storeNamed(cwd, env)).toBe('loaded')
})
