import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { RotaError } from '../kernel/definition/errors.js'
import { configSections } from '../app/definitions/load-app.js'
import { loadConfig, type LoadedConfig } from './config/config-file.js'

let directory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'rota-config-')), 'my app')
  mkdirSync(directory)
})

function write(name: string, text: string | Buffer): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

async function load(name: string, text: string): Promise<Extract<LoadedConfig, { kind: 'config' }>> {
  const loaded = await loadConfig(write(name, text), configSections)
  if (loaded.kind !== 'config') throw new Error('a config was expected')
  return loaded
}

/** The lines of the error for a config, without the one that names the file. */
async function faultsOf(name: string, text: string | Buffer): Promise<string[]> {
  try {
    await loadConfig(write(name, text), configSections)
  } catch (error) {
    expect(error).toBeInstanceOf(RotaError)
    expect((error as RotaError).code).toBe('CONFIG_INVALID')
    const [first, ...lines] = (error as RotaError).message.split('\n')
    expect(first).toContain(join(directory, name))
    return lines.map((line) => line.trim())
  }
  return []
}

describe('a config with a common mistake', () => {
  it.each([
    ['triggers:\n  t:\n    cron: * * * * *\n    job: a\n', '3:11', '* * * * *'],
    ['triggers:\n  t: { job: a, cron: */5 * * * *, timezone: UTC }\njobs: {}\n', '2:22', '*/5 * * * *'],
  ])('reports once that an expression needs quotes: %j', async (text, place, expression) => {
    expect(await faultsOf('rota.config.yaml', text)).toEqual([
      `rota.config.yaml:${place}: an asterisk starts an alias here; write the expression in quotes: "${expression}"`,
    ])
  })

  it('names the short form of a duration in words', async () => {
    expect(
      await faultsOf(
        'rota.config.yaml',
        'jobs: { a: { command: [x] } }\ntriggers: { t: { job: a, every: 5 minutes } }',
      ),
    ).toEqual([expect.stringContaining('triggers.t.every: "5 minutes": units are letters here, write 5m')])
  })

  it('may name its schema, which changes nothing else', async () => {
    expect((await load('rota.config.json', '{"$schema":"./x.json"}')).config).not.toHaveProperty('$schema')
    expect(await faultsOf('rota.config.yaml', '$schema: x\nlease: 2h')).toHaveLength(1)
  })

  it('lists an undefined job together with other faults, but not alone', async () => {
    const trigger = 'triggers: { t: { job: gret, every: 1m } }\njobs: { greet: { command: [x] } }\n'
    expect(await faultsOf('rota.config.yaml', trigger)).toEqual([])
    expect(await faultsOf('rota.config.yaml', `${trigger}lease: 2h\n`)).toEqual([
      'rota.config.yaml:1:18: triggers.t.job: no job of this file is named gret; did you mean greet? (allowed: greet, or one that is already in the store)',
      expect.stringContaining('lease'),
    ])
  })
})
