import { onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { FakeClock } from '../../../testing/fake-clock.js'
import { settle } from '../../../../test/fixtures/engine-stage.js'

/** Monday, 2026-01-05, 10:00: when a test begins. */
export const ten = Date.UTC(2026, 0, 5, 10)
/** One minute. */
export const minute = 60_000
/** One hour. */
export const hour = 60 * minute

/** An app on a fake clock, whose services end when the test says so. */
export class Theatre {
  readonly clock = new FakeClock(ten)
  readonly app: Rota
  readonly begun: string[] = []
  readonly #ends = new Map<string, (error?: Error) => void>()

  constructor(store = 'memory:') {
    this.app = rota({ store, clock: this.clock, lease: '1h' })
    onTestFinished(async () => {
      const closing = this.app.close()
      await this.clock.advance(20_000, settle)
      await closing
    })
  }

  services(...names: readonly string[]): void {
    for (const name of names) {
      this.app.job(name, () => {
        this.begun.push(name)
        return new Promise<void>((resolve, reject) => {
          this.#ends.set(name, (error) => (error === undefined ? resolve() : reject(error)))
        })
      })
    }
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms, settle)
  }

  async passTo(at: number): Promise<void> {
    await this.pass(at - this.clock.now())
  }

  async end(name: string, error?: Error): Promise<void> {
    this.#ends.get(name)?.(error)
    await this.pass(1)
  }
}
