/**
 * The process that answers requests that need only the store: reads, streams and the files of the dashboard. It has its
 * own read-only connection, and forwards everything else to the process of the app. So neither the number of readers
 * nor the cost of a query delays the scheduler and the worker of the app.
 *
 * It listens on an address, or answers requests that the app forwards. It belongs to the app: however that one ends,
 * the channel between them closes, and this process exits.
 */
import { constants, setPriority } from 'node:os'
import { HttpServer } from '../../server/listen.js'
import { Exchange, type Line } from '../../server/other-process.js'
import { systemClock } from '../../time/clock.js'
import { pick } from '../../wire/to-json.js'
import type { ReaderAccess } from '../store/open-adapter.js'
import type { Served } from './app-handler.js'
import {
  errorData,
  type ApiProcessData,
  type AppMessage,
  type ReaderMessage,
  type ErrorData,
} from './messages.js'

/** The channel to the app. */
interface AppLine extends Line {
  hear(listener: (message: AppMessage) => void): void
  send(message: ReaderMessage): void
}

async function run(data: ApiProcessData, line: AppLine): Promise<void> {
  const reading = new Reading(data, line)
  const server = new HttpServer(
    async (request, response) => {
      try {
        await (await reading.served()).node(request, response)
      } catch (error) {
        line.send({ trouble: errorData(error) })
        response.writeHead(503, { 'retry-after': '5' }).end()
      }
    },
    { clock: systemClock },
  )
  line.hear((message) => {
    if (message === 'wake') void reading.wake()
    if (message === 'stop') void stop()
  })
  const { listen } = data
  try {
    line.send({ listening: listen === undefined ? undefined : await server.listenAt(listen) })
  } catch (error) {
    line.send({ failed: errorData(error) })
  }

  async function stop(): Promise<void> {
    await reading.close()
    await server.close()
    await reading.closeStore()
    process.disconnect()
  }
}

/** The store and the routes of the app in this process, loaded with the first request. */
class Reading {
  readonly #data: ApiProcessData
  readonly #line: AppLine
  readonly #exchange: Exchange
  /** Called with the next lists of files, in this order. */
  readonly #onFiles: ((files: readonly string[]) => void)[] = []
  #served: Promise<Served & { closeStore(): Promise<void> }> | undefined

  constructor(data: ApiProcessData, line: AppLine) {
    this.#data = data
    this.#line = line
    line.hear((message) => {
      if (typeof message === 'object' && 'files' in message) this.#onFiles.shift()?.(message.files)
    })
    this.#exchange = new Exchange(line, async (request, connection) =>
      (await this.served()).fetch(request, connection),
    )
  }

  served(): Promise<Served> {
    this.#served ??= this.#load()
    // A store that cannot be reached now may be back with the next request.
    this.#served.catch(() => (this.#served = undefined))
    return this.#served
  }

  async wake(): Promise<void> {
    ;(await this.#served?.catch(() => undefined))?.wake()
  }

  /** Ends the streams. */
  async close(): Promise<void> {
    await (await this.#served?.catch(() => undefined))?.close()
  }

  /** Closes the store after the requests of the app. */
  async closeStore(): Promise<void> {
    await this.#exchange.idle()
    await (await this.#served?.catch(() => undefined))?.closeStore()
  }

  async #load(): Promise<Served & { closeStore(): Promise<void> }> {
    await this.#storeIsThere()
    const { url, durability, directory, readOnly, listen } = this.#data
    const { composeApp } = await import('../rota.js')
    const { readRotaOptions } = await import('../rota-options.js')
    const { serve } = await import('./served.js')
    const reader: ReaderAccess = {
      changeState: async (keep) => {
        this.#line.send({ keep })
        return 'changed'
      },
      definitionFiles: () =>
        new Promise((resolve) => {
          this.#onFiles.push(resolve)
          this.#line.send('files')
        }),
    }
    const settings = { ...readRotaOptions({ store: url, durability, directory, create: false }), reader }
    const parts = composeApp(settings, 'code:api')
    parts.app.on('trouble', ({ error }) => this.#line.send({ trouble: errorData(error) }))
    const other = { process: this.#exchange, isApp: true }
    try {
      const served = await serve(
        parts,
        listen === undefined
          ? { other, readOnly, authorize: () => false }
          : { other, readOnly, ...pick(listen, ['isLoopback', 'requestsPerSecond']) },
      )
      return { ...served, closeStore: () => parts.app.close() }
    } catch (error) {
      await parts.app.close()
      throw error
    }
  }

  /** Waits until the app has created and migrated the store. */
  async #storeIsThere(): Promise<void> {
    const opened = await new Promise<ErrorData | undefined>((resolve) => {
      this.#line.hear((message) => {
        if (typeof message === 'object' && 'opened' in message) resolve(message.opened)
      })
      this.#line.send('open')
    })
    if (opened !== undefined) throw new Error(opened.message)
  }
}

/** Ignores signals: the app handles a signal to all processes of a terminal or a service. */
function main(send: (message: unknown, onSent: () => void) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  yieldToApp()
  process.on('disconnect', () => process.exit())
  const line: AppLine = {
    hear: (listener) => void process.on('message', listener as (message: unknown) => void),
    // If the app has ended, the answer is not needed.
    send: (message) => send(message, () => undefined),
  }
  line.hear((message) => {
    if (typeof message === 'object' && 'start' in message) void run(message.start, line)
  })
}

/** If the CPU has too little time for both, reads wait and runs do not. */
function yieldToApp(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some systems do not allow it; nothing depends on it.
  }
}

if (process.send !== undefined) main(process.send.bind(process) as Parameters<typeof main>[0])
