import { closeSync, openSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { endOf, hasFullDisk, newDirectory, onFullDisk, start, textOf } from './streams.js'

const servers = new Set<Server>()

afterEach(() => {
  for (const server of servers) server.close()
  servers.clear()
})

describe('a command whose output cannot be written', () => {
  it.skipIf(!hasFullDisk)(
    'ends with 74 where it was asked for something that it could not print',
    async () => {
      const cwd = newDirectory()
      const shown = await onFullDisk(['next', '0 9 * * *'], cwd)
      expect(shown).toEqual({ code: 74, stderr: expect.stringMatching(/^warning: .*ENOSPC.*\n$/) })
      expect(await onFullDisk(['--help'], cwd)).toMatchObject({ code: 74 })
    },
  )

  it.skipIf(!hasFullDisk)('ends as usual if its errors cannot be written', async () => {
    const cwd = newDirectory()
    const full = openSync('/dev/full', 'w')
    const refused = start(['next', 'nonsense at all'], cwd, ['ignore', full, full])
    closeSync(full)
    expect(await endOf(refused)).toBe(2)
  })
})

/** An app that performs two runs with much output, one after another, and reports each. */
class Talker {
  readonly cwd = newDirectory()
  /** Resolves when both have ended. */
  readonly performed: Promise<void>
  readonly #server = createServer()

  constructor() {
    this.performed = new Promise((resolve) => {
      let count = 0
      this.#server.on('request', (_, response) => {
        response.end()
        count += 1
        if (count === 2) resolve()
      })
    })
  }

  async open(): Promise<this> {
    const port = await new Promise<number>((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port))
    })
    servers.add(this.#server)
    const code = `for (let i = 0; i < 200; i++) console.log('x'.repeat(1000)); fetch('http://127.0.0.1:${port}')`
    const jobs = { talk: { command: ['node', '-e', code] } }
    const triggers = {
      first: { job: 'talk', at: '2026-01-01T00:00:00Z' },
      second: { job: 'talk', at: '2026-01-02T00:00:00Z' },
    }
    const config = { app: 'shop', concurrency: 1, jobs, triggers }
    writeFileSync(join(this.cwd, 'rota.config.json'), JSON.stringify(config))
    return this
  }
}

describe('an engine whose output cannot be written', () => {
  it.skipIf(!hasFullDisk)('continues if the disk of its log is full', async () => {
    const { cwd, performed } = await new Talker().open()
    const full = openSync('/dev/full', 'w')
    const engine = start(['up'], cwd, ['ignore', full, 'pipe'])
    closeSync(full)
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe(
      'warning: standard output cannot be written: ENOSPC: no space left on device, write\n',
    )
  })

  it('continues without a reader, and says so', async () => {
    const { cwd, performed } = await new Talker().open()
    const engine = start(['up', '--json'], cwd, ['ignore', 'pipe', 'pipe'])
    engine.stdout?.destroy()
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe('warning: standard output is closed; rota continues\n')
  })

  it('continues and ends if its reader reads nothing', async () => {
    const { cwd, performed } = await new Talker().open()
    const engine = start(['up', '--json'], cwd, ['ignore', 'pipe', 'pipe'])
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe('')
  })
})
