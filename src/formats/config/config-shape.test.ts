import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { configSections } from '../../app/definitions/load-app.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { builtSchema, fits, type Schema } from '../../../test/config-schema.js'
import { loadConfig } from './config-file.js'

/** The lines of the error for a config, without the one that names the file. */
async function faultsOf(text: string): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-config-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'rota.config.yaml')
  writeFileSync(path, text)
  const error: unknown = await loadConfig(path, configSections).catch((thrown: unknown) => thrown)
  return error instanceof RotaError ? error.message.split('\n').slice(1) : []
}

const full = `
app: demo
store: sqlite:data/rota.db
concurrency: 10
lease: 30s
retention: 30d
durability: normal
queues: { mail: { concurrency: 5 } }
jobs:
  greet: { command: ["node", "-e", "console.log('hi')"], retry: { attempts: 5, delay: 1s }, timeout: 10m }
  ping:
    http: { url: "https://example.org/", headers: { accept: text/plain } }
    queue: mail
triggers:
  nightly: { job: greet, cron: "0 2 * * *", timezone: America/New_York, dst: skip, partition: previous-day }
  often: { job: ping, every: 15m, catchUp: { mode: skip, grace: 5s }, payload: [1, null] }
  once: { job: ping, at: 2026-01-05T09:00 }
`

describe('the schema of a config', () => {
  it('accepts what the rules accept', async () => {
    expect(await faultsOf(full)).toEqual([])
    expect(fits(builtSchema('config'), parse(full))).toBe(true)
  })

  it('has the options that the rules know, at every level', async () => {
    const known = async (text: string): Promise<string[]> => {
      const [line = ''] = await faultsOf(text)
      return (/allowed: (.*)\)/.exec(line)?.[1] ?? '')
        .split(', ')
        .filter((name) => name !== 'steps')
        .toSorted()
    }
    const { properties = {} } = builtSchema('config')
    const optionsIn = (section: string): string[] => {
      const { additionalProperties } = properties[section] as { additionalProperties: Schema }
      return Object.keys(additionalProperties.properties ?? {}).toSorted()
    }
    expect(Object.keys(properties).toSorted()).toEqual(await known('x_y: 1'))
    expect(optionsIn('jobs')).toEqual(await known('jobs: { a: { x_y: 1, command: [x] } }'))
    expect(optionsIn('queues')).toEqual(await known('queues: { a: { x_y: 1 } }'))
    expect(optionsIn('triggers')).toEqual(await known('triggers: { a: { x_y: 1, job: a, every: 1s } }'))
  })
})
