import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { Proxy } from '../fixtures/proxy.js'
import { ServerProcess } from '../fixtures/server-process.js'
import { Host } from './host.js'

/** A primary, its streaming standby, an address that leads to one of them, and hosts that use it. */
export class Failover {
  readonly primary: ServerProcess
  readonly standby: ServerProcess
  readonly proxy: Proxy
  /** The address that hosts and clients use. */
  readonly store: string
  readonly diary: string
  readonly #directory: string
  readonly #fromAt = Date.now()
  readonly #hosts: Host[] = []

  private constructor(options: {
    primary: ServerProcess
    standby: ServerProcess
    behind: { proxy: Proxy; url: string }
    directory: string
  }) {
    this.primary = options.primary
    this.standby = options.standby
    this.proxy = options.behind.proxy
    this.store = options.behind.url
    this.#directory = options.directory
    this.diary = join(options.directory, 'diary.txt')
  }

  static async start(options: { readonly isSynchronous: boolean }): Promise<Failover> {
    const primary = await ServerProcess.start({ settings: { wal_level: 'replica', hot_standby: 'on' } })
    const standby = await primary.standby({ name: 'second' })
    if (options.isSynchronous) {
      const client = await primary.connect()
      await client.query(`alter system set synchronous_standby_names = 'second'`)
      await client.query('select pg_reload_conf()')
      await until(async () => (await streaming(client)) === 'sync')
      await client.end()
    }
    const behind = await Proxy.before(`${primary.url}&schema=rota`)
    const directory = await mkdtemp(join(tmpdir(), 'rota-failover-'))
    await writeFile(join(directory, 'diary.txt'), '')
    return new Failover({ primary, standby, behind, directory })
  }

  /** Starts a host. */
  async employ(roles: string, more: readonly string[] = []): Promise<Host> {
    const { store, diary } = this
    const state = join(this.#directory, `state-${roles}`)
    const host = new Host({ roles, store, diary, fromAt: this.#fromAt, state, arguments: more })
    this.#hosts.push(host)
    await host.start()
    return host
  }

  /** Kills the primary, promotes the standby, and moves the address; returns the time at which that was done. */
  async failOver(): Promise<number> {
    await this.primary.kill()
    this.proxy.cutAll()
    await this.standby.promote()
    const client = await this.standby.connect()
    // No standby is left to confirm commits.
    await client.query(`alter system set synchronous_standby_names = ''`)
    await client.query('select pg_reload_conf()')
    await client.end()
    this.proxy.leadTo(this.standby.url)
    return Date.now()
  }

  /** Resolves when an attempt has begun after an instant. */
  async performedSince(at: number): Promise<void> {
    await until(async () => (await this.begun()).some(({ beganAt }) => beganAt > at))
  }

  /** Every attempt that began. */
  async begun(): Promise<{ id: string; attempt: number; beganAt: number }[]> {
    const lines = (await readFile(this.diary, 'utf8')).split('\n').map((line) => line.split(' '))
    return lines
      .filter(([what]) => what === 'begin')
      .map(([, id = '', attempt, at]) => ({ id, attempt: Number(attempt), beganAt: Number(at) }))
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()))
    await this.proxy.close()
    await Promise.all([this.primary.remove(), this.standby.remove()])
    await rm(this.#directory, { recursive: true })
  }
}

async function streaming(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ sync_state: string }>('select sync_state from pg_stat_replication')
  return rows[0]?.sync_state
}

/** Polls until a condition is true. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(50)
}
