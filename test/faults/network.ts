import { execFileSync } from 'node:child_process'

/** Network namespaces of the kernel as hosts with their own cables, on one bridge. */
export class Network {
  readonly #name: string
  readonly #hosts: string[] = []

  private constructor(name: string) {
    this.#name = name
  }

  /** A network without hosts; undefined if this machine does not allow it. */
  static make(): Network | undefined {
    const network = new Network(`rt${process.pid % 100_000}`)
    try {
      run('link', 'add', network.#name, 'type', 'bridge')
      run('link', 'set', network.#name, 'up')
      network.add('probe')
      return network
    } catch {
      network.remove()
      return undefined
    }
  }

  /** The address range. */
  get addresses(): string {
    return '10.213.0.0/24'
  }

  /** Adds a host; returns its address. */
  add(host: string): string {
    this.#hosts.push(host)
    const address = `10.213.0.${this.#hosts.length}`
    const inside = `i${this.#cable(host)}`
    run('netns', 'add', this.#cable(host))
    run('link', 'add', this.#cable(host), 'type', 'veth', 'peer', 'name', inside)
    run('link', 'set', inside, 'netns', this.#cable(host))
    run('link', 'set', this.#cable(host), 'master', this.#name, 'up')
    run('-n', this.#cable(host), 'addr', 'add', `${address}/24`, 'dev', inside)
    run('-n', this.#cable(host), 'link', 'set', inside, 'up')
    run('-n', this.#cable(host), 'link', 'set', 'lo', 'up')
    return address
  }

  /** The command before a program that runs on a host. */
  within(host: string): string[] {
    return ['ip', 'netns', 'exec', this.#cable(host)]
  }

  /** Cuts the connection of a host. */
  unplug(host: string): void {
    run('link', 'set', this.#cable(host), 'down')
  }

  plug(host: string): void {
    run('link', 'set', this.#cable(host), 'up')
  }

  remove(): void {
    for (const host of this.#hosts) attempt('netns', 'del', this.#cable(host))
    attempt('link', 'del', this.#name)
  }

  #cable(host: string): string {
    return `${this.#name}${host}`
  }
}

function run(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'ignore' })
}

function attempt(...words: readonly string[]): void {
  try {
    run(...words)
  } catch {
    // It does not exist.
  }
}
