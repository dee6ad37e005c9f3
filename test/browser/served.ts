import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { createClient, type Client } from '../../src/client/client.js'
import type { Run } from '../../src/client/operations.js'
import { emptyDirectory, rota, start, type Running } from '../cli/rota.js'
import { PostgresServer } from '../fixtures/postgres.js'

/** The stores on which the dashboard is tested. */
export const stores = ['sqlite', 'postgres'] as const

/** A store for tests. */
export type StoreKind = (typeof stores)[number]

/** The store and the config of the program. */
export interface ServedOptions {
  readonly store?: StoreKind
  /** The sections of the config below `store`. */
  readonly config: string
  /** More files beside the config, by name. */
  readonly files?: Readonly<Record<string, string>>
}

/** `rota up` with its dashboard, on a free port and in a new directory. */
export class ServedRota {
  readonly #options: ServedOptions
  readonly directory = emptyDirectory()
  #postgres: PostgresServer | undefined
  #running: Running | undefined
  #port = 0

  constructor(options: ServedOptions) {
    this.#options = options
  }

  /** Writes the config and starts `rota up`. */
  async start(): Promise<void> {
    const { store = 'sqlite', config, files = {} } = this.#options
    this.#postgres = store === 'postgres' ? await PostgresServer.start() : undefined
    const address = (await this.#postgres?.createDatabase()) ?? 'sqlite:data/rota.db'
    const write = (name: string, text: string): void => writeFileSync(join(this.directory, name), text)
    mkdirSync(join(this.directory, 'data'), { recursive: true })
    for (const [name, text] of Object.entries(files)) write(name, text)
    write('rota.config.yaml', `store: ${JSON.stringify(address)}\n${config}`)
    await this.up()
  }

  /** The address of the dashboard. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** A client of the API. */
  get client(): Client {
    return createClient({ url: this.url })
  }

  /** Starts the program. After a kill it uses the same port, so that open tabs reconnect. */
  async up(): Promise<void> {
    this.#running = start(['up', '--port', String(this.#port)], { cwd: this.directory })
    const text = await this.#running.said(/http:\/\/127\.0\.0\.1:\d+/)
    this.#port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1])
  }

  /** Kills the program without a clean shutdown. */
  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL')
    await this.#running?.ended
  }

  /** Waits until a run is in a state. */
  async until(id: string, state: Run['state']): Promise<void> {
    const look = async (): Promise<void> => {
      const run = await this.client('GET /runs/{id}', { path: { id } })
      if (run.state !== state) throw new Error(`the run is ${run.state}, not ${state}`)
    }
    await vi.waitFor(look, { timeout: 30_000, interval: 100 })
  }

  /** Runs a command line on the same store. */
  async command(...args: readonly string[]): Promise<string> {
    return (await rota(args, { cwd: this.directory })).stdout
  }

  /** Stops the program and the database. */
  async close(): Promise<void> {
    await this.kill()
    await this.#postgres?.stop()
  }
}
