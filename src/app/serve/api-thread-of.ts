import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { AppContext } from '../../features/app-context.js'
import { errorCodes, RotaError, type ErrorCode } from '../../kernel/definition/errors.js'
import type { Address } from '../../server/listen.js'
import { Exchange, type OtherThread } from '../../server/other-thread.js'
import type { Store } from '../../store/port.js'
import type { Connection } from '../../wire/route.js'
import { ExitGate } from '../store/exit-gate.js'
import {
  told,
  type ApiThreadData,
  type ApiThreadMessage,
  type AppThreadMessage,
  type Told,
} from './messages.js'

/** How a thread that reads for an app is started. */
export interface ApiThreadOptions {
  readonly context: AppContext
  readonly store: NonNullable<AppContext['storeForThread']>
  readonly readOnly: boolean | undefined
  readonly listen: ApiThreadData['listen']
  /** Answers what the thread hands to the app. */
  readonly answer: (request: Request, connection: Connection) => Promise<Response>
}

/** How long a thread may take to end; the requests in progress get a part of it. */
const endMs = 8000

/** How long the next thread waits after one that has died. */
const againMs = 1000

/** How soon the streams look after something has happened in the app. */
const wakeMs = 100

/** The thread that reads for an app; one that dies is replaced. */
export class ApiThread implements OtherThread {
  readonly #options: ApiThreadOptions
  #current: { readonly thread: Worker; readonly exchange: Exchange } | undefined
  #address: Address | undefined
  #isStopped = false
  #stopping: Promise<void> | undefined
  #cancelWake: (() => void) | undefined

  constructor(options: ApiThreadOptions) {
    this.#options = options
  }

  /** Starts the thread; the answer is where it listens. */
  async listen(): Promise<Address> {
    const { thread } = this.#started()
    this.#address = await new Promise<Address>((resolve, reject) => {
      thread.on('message', (message: ApiThreadMessage) => {
        if (typeof message !== 'object') return
        if ('listening' in message) resolve(message.listening as Address)
        if ('failed' in message) reject(errorOf(message.failed))
      })
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread that listens has ended')))
    }).catch(async (error: unknown) => {
      await this.stop()
      throw error
    })
    return this.#address
  }

  async answer(request: Request, connection: Connection): Promise<Response> {
    const { thread, exchange } = this.#started()
    // A thread that only waits keeps no program alive; one that is asked does.
    if (this.#options.listen === undefined) thread.ref()
    try {
      return await exchange.answer(request, connection)
    } finally {
      if (this.#options.listen === undefined && exchange.waiting === 0) thread.unref()
    }
  }

  /** Makes the streams look soon whether something changed. */
  wake(): void {
    if (this.#cancelWake !== undefined || this.#current === undefined) return
    const send = (): void => {
      this.#cancelWake = undefined
      this.#current?.thread.postMessage('wake' satisfies AppThreadMessage)
    }
    this.#cancelWake = this.#options.context.clock.timer(wakeMs, send, { isIdle: true })
  }

  /** Ends the thread: no more requests, those in progress get a few seconds. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelWake?.()
    const { thread } = this.#current ?? {}
    if (thread === undefined) return
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    const cancel = this.#options.context.clock.timer(endMs, () => void thread.terminate())
    thread.ref()
    thread.postMessage('stop' satisfies AppThreadMessage)
    await ended
    cancel()
  }

  #started() {
    if (this.#isStopped) throw new RotaError('STORE_CLOSED', 'the app was used after it was closed')
    this.#current ??= this.#start()
    return this.#current
  }

  #start() {
    const { context, store, readOnly, listen } = this.#options
    const { events, clock, directory } = context
    const gate = new ExitGate()
    const closeGate = (): void => gate.close()
    process.on('exit', closeGate)
    const place = listen === undefined ? undefined : { ...listen, port: this.#address?.port ?? listen.port }
    const workerData: ApiThreadData = { ...store, directory, readOnly, listen: place, gate: gate.shared }
    // Flags of the program, such as --input-type or --import, must not apply to the thread, which may not start with them.
    const thread = new Worker(threadFile(), { workerData, execArgv: [] })
    const exchange = new Exchange(thread, this.#options.answer)
    const onTrouble = (error: unknown, retryInMs = 0): void =>
      events.emit('trouble', { where: 'serving', error, retryInMs })
    thread.on('message', (message: ApiThreadMessage) => {
      if (message === 'open') void this.#open(thread)
      else if ('trouble' in message) onTrouble(errorOf(message.trouble))
      else if ('keep' in message) void this.#keep(message.keep).catch((error: unknown) => onTrouble(error))
      else if ('failed' in message && this.#address !== undefined) {
        // The first time, `listen` throws it.
        onTrouble(errorOf(message.failed), againMs)
        void thread.terminate()
      }
    })
    thread.on('error', (error) => onTrouble(error, againMs))
    thread.on('exit', () => {
      process.off('exit', closeGate)
      exchange.end()
      this.#current = undefined
      if (this.#isStopped || this.#address === undefined) return
      clock.timer(againMs, () => {
        if (!this.#isStopped) this.#current ??= this.#start()
      })
    })
    if (listen === undefined) thread.unref()
    return { thread, exchange }
  }

  async #keep(request: Parameters<Store['changeState']>[0]): Promise<void> {
    await (await this.#options.context.store()).changeState(request)
  }

  async #open(thread: Worker): Promise<void> {
    let opened: Told | undefined
    try {
      await this.#options.context.store()
    } catch (error) {
      opened = told(error)
    }
    thread.postMessage({ opened } satisfies AppThreadMessage)
  }
}

function errorOf({ code, message, stack }: Told): Error {
  if (code !== undefined && code in errorCodes) return new RotaError(code as ErrorCode, message)
  return Object.assign(new Error(message), { stack })
}

/** The compiled thread, wherever this file was loaded from. */
function threadFile(): string {
  return createRequire(import.meta.url).resolve('#api-thread')
}
