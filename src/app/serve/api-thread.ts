/**
 * The thread that answers what needs only the store: reads, streams and the files of the dashboard. It has its own
 * connection, which cannot write. Everything else it hands to the thread of the app. So neither the number of readers nor
 * the cost of a question delays what the app plans and performs.
 *
 * It listens on an address, or answers what the app hands to it.
 */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { HttpServer } from '../../server/listen.js'
import { Exchange } from '../../server/other-thread.js'
import { systemClock } from '../../time/clock.js'
import { ExitGate } from '../store/exit-gate.js'
import type { ReaderAccess } from '../store/open-store.js'
import type { Served } from './app-handler.js'
import {
  told,
  type ApiThreadData,
  type ApiThreadMessage,
  type AppThreadMessage,
  type Told,
} from './messages.js'

async function run(data: ApiThreadData, port: MessagePort): Promise<void> {
  const tell = (message: ApiThreadMessage): void => port.postMessage(message)
  const reading = new Reading(data, port)
  const server = new HttpServer(
    async (request, response) => {
      try {
        await (await reading.served()).node(request, response)
      } catch (error) {
        tell({ trouble: told(error) })
        response.writeHead(503, { 'retry-after': '5' }).end()
      }
    },
    { clock: systemClock },
  )
  port.on('message', (message: AppThreadMessage) => {
    if (message === 'wake') void reading.wake()
    if (message === 'stop') void stop()
  })
  const { listen } = data
  try {
    tell({ listening: listen === undefined ? undefined : await server.listenAt(listen) })
  } catch (error) {
    tell({ failed: told(error) })
  }

  async function stop(): Promise<void> {
    await reading.close()
    await server.close()
    await reading.closeStore()
    port.close()
  }
}

/** The part of an app that this thread has: its store and its routes, loaded with the first request. */
class Reading {
  readonly #data: ApiThreadData
  readonly #port: MessagePort
  readonly #exchange: Exchange
  #served: Promise<Served & { closeStore(): Promise<void> }> | undefined

  constructor(data: ApiThreadData, port: MessagePort) {
    this.#data = data
    this.#port = port
    this.#exchange = new Exchange(port, async (request, connection) =>
      (await this.served()).fetch(request, connection),
    )
  }

  served(): Promise<Served> {
    this.#served ??= this.#load()
    // A store that is away now may be back with the next request.
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

  /** Closes the store after what the app has asked for. */
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
    const gate = new ExitGate(this.#data.gate)
    const reader: ReaderAccess = {
      during: (call) => gate.duringCall(call),
      changeState: async (keep) => {
        this.#port.postMessage({ keep } satisfies ApiThreadMessage)
        return 'changed'
      },
    }
    const settings = { ...readRotaOptions({ store: url, durability, directory, create: false }), reader }
    const parts = composeApp(settings, 'code:api')
    parts.app.on('trouble', ({ error }) => this.#port.postMessage({ trouble: told(error) }))
    const other = { thread: this.#exchange, isApp: true }
    try {
      const served = await serve(
        parts,
        listen === undefined
          ? { other, readOnly, authorize: () => false }
          : { other, readOnly, isLoopback: listen.isLoopback },
      )
      return { ...served, closeStore: () => parts.app.close() }
    } catch (error) {
      await parts.app.close()
      throw error
    }
  }

  /** The app makes the store where it is missing, and brings it up to date. */
  async #storeIsThere(): Promise<void> {
    const opened = await new Promise<Told | undefined>((resolve) => {
      const hear = (message: AppThreadMessage): void => {
        if (typeof message !== 'object' || !('opened' in message)) return
        this.#port.off('message', hear)
        resolve(message.opened)
      }
      this.#port.on('message', hear)
      this.#port.postMessage('open' satisfies ApiThreadMessage)
    })
    if (opened !== undefined) throw new Error(opened.message)
  }
}

if (parentPort !== null) await run(workerData as ApiThreadData, parentPort)
