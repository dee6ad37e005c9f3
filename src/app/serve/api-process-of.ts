import { fork, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import type { AppContext } from '../../features/app-context.js'
import { errorCodes, RotaError, type ErrorCode } from '../../kernel/definition/errors.js'
import type { Address } from '../../server/listen.js'
import { Exchange, type OtherProcess } from '../../server/other-process.js'
import type { Store } from '../../store/port.js'
import type { Connection } from '../../wire/route.js'
import {
  errorData,
  type ApiProcessData,
  type AppMessage,
  type ReaderMessage,
  type ErrorData,
} from './messages.js'

/** The options of the reader process of an app. */
export interface ApiProcessOptions {
  readonly context: AppContext
  readonly store: NonNullable<AppContext['storeForReader']>
  readonly readOnly: boolean | undefined
  readonly listen: ApiProcessData['listen']
  /** Answers the requests that the process forwards to the app. */
  readonly answer: (request: Request, connection: Connection) => Promise<Response>
}

/** How long a process may take to end; the requests in progress get a part of it. */
const endMs = 8000

/** The pause before a process that died is replaced. */
const againMs = 1000

/** How soon the streams look after a change in the app. */
const wakeMs = 100

/** The reader process of an app; one that dies is replaced. */
export class ApiProcess implements OtherProcess {
  readonly #options: ApiProcessOptions
  #current: Child | undefined
  #address: Address | undefined
  #isStopped = false
  #stopping: Promise<void> | undefined
  #cancelWake: (() => void) | undefined

  constructor(options: ApiProcessOptions) {
    this.#options = options
  }

  /** Starts the process; returns where it listens. */
  async listen(): Promise<Address> {
    const { process: child } = this.#started()
    this.#address = await new Promise<Address>((resolve, reject) => {
      child.on('message', (message: ReaderMessage) => {
        if (typeof message !== 'object') return
        if ('listening' in message) resolve(message.listening as Address)
        if ('failed' in message) reject(errorOf(message.failed))
      })
      child.once('error', reject)
      child.once('exit', (...end) => reject(endOf(end)))
    }).catch(async (error: unknown) => {
      await this.stop()
      throw error
    })
    return this.#address
  }

  async answer(request: Request, connection: Connection): Promise<Response> {
    const child = this.#started()
    // An idle process does not keep the program alive; one with requests does.
    if (this.#options.listen === undefined) child.hold()
    try {
      return await child.exchange.answer(request, connection)
    } finally {
      if (this.#options.listen === undefined && child.exchange.waiting === 0) child.letGo()
    }
  }

  /** Makes the streams check soon whether something changed. */
  wake(): void {
    if (this.#cancelWake !== undefined || this.#current === undefined) return
    const send = (): void => {
      this.#cancelWake = undefined
      this.#current?.send('wake')
    }
    this.#cancelWake = this.#options.context.clock.timer(wakeMs, send, { isIdle: true })
  }

  /** Ends the process: no more requests, those in progress get a few seconds. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelWake?.()
    const child = this.#current
    if (child === undefined) return
    const cancel = this.#options.context.clock.timer(endMs, () => void child.process.kill('SIGKILL'))
    child.hold()
    child.send('stop')
    await child.ended
    cancel()
  }

  #started(): Child {
    if (this.#isStopped) throw new RotaError('STORE_CLOSED', 'the app was used after it was closed')
    this.#current ??= this.#start()
    return this.#current
  }

  #start(): Child {
    const { context, store, readOnly, listen, answer } = this.#options
    const { events, directory } = context
    const place = listen === undefined ? undefined : { ...listen, port: this.#address?.port ?? listen.port }
    const child = new Child(answer)
    const onTrouble = (error: unknown, retryInMs = 0): void =>
      events.emit('trouble', { where: 'serving', error, retryInMs })
    child.process.on('message', (message: ReaderMessage) => {
      if (message === 'open') void this.#open(child)
      else if (message === 'files') void context.definitionFiles().then((files) => child.send({ files }))
      else if ('trouble' in message) onTrouble(errorOf(message.trouble))
      else if ('keep' in message) void this.#keep(message.keep).catch((error: unknown) => onTrouble(error))
      else if ('failed' in message && this.#address !== undefined) {
        // The first time, `listen` throws it.
        onTrouble(errorOf(message.failed), againMs)
        child.process.kill('SIGKILL')
      }
    })
    void this.#replace(child, onTrouble)
    child.send({ start: { ...store, directory, readOnly, listen: place } })
    if (listen === undefined) child.letGo()
    return child
  }

  /** Starts the next process after one that has died. A mounted handler starts it with the next read. */
  async #replace(child: Child, onTrouble: (error: Error, retryInMs?: number) => void): Promise<void> {
    const error = await child.ended
    this.#current = undefined
    if (this.#isStopped) return
    if (this.#address === undefined) return onTrouble(error)
    onTrouble(error, againMs)
    this.#options.context.clock.timer(againMs, () => {
      if (!this.#isStopped) this.#current ??= this.#start()
    })
  }

  async #keep(request: Parameters<Store['changeState']>[0]): Promise<void> {
    await (await this.#options.context.store()).changeState(request)
  }

  async #open(child: Child): Promise<void> {
    let opened: ErrorData | undefined
    try {
      await this.#options.context.store()
    } catch (error) {
      opened = errorData(error)
    }
    child.send({ opened })
  }
}

/** One process, from its start to its end. */
class Child {
  readonly process: ChildProcess
  readonly exchange: Exchange
  /** Resolves with the reason when it has ended, or could not be started. */
  readonly ended: Promise<Error>

  constructor(answer: ApiProcessOptions['answer']) {
    // Flags of the program, such as --inspect or --import, are not meant for this process.
    const child = fork(processFile(), {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.process = child
    this.exchange = new Exchange(
      { hear: (listener) => void child.on('message', listener), send: (message) => this.#send(message) },
      answer,
    )
    this.ended = new Promise<Error>((resolve) => {
      child.once('error', resolve)
      child.once('exit', (...end) => resolve(endOf(end)))
    }).then((error) => {
      this.exchange.end()
      return error
    })
  }

  send(message: AppMessage): void {
    this.#send(message)
  }

  /** Keeps the program alive. */
  hold(): void {
    this.process.ref()
    this.process.channel?.ref()
  }

  /** Lets the program end. */
  letGo(): void {
    this.process.unref()
    this.process.channel?.unref()
  }

  /** Messages to an ended process are lost; `ended` reports its end. */
  #send(message: unknown): void {
    this.process.send(message as object, () => undefined)
  }
}

function endOf([code, signal]: [number | null, NodeJS.Signals | null]): Error {
  return new Error(`the process that answers reads has ended (${signal ?? `exit code ${code}`})`)
}

function errorOf({ code, message, stack }: ErrorData): Error {
  if (code !== undefined && code in errorCodes) return new RotaError(code as ErrorCode, message)
  return Object.assign(new Error(message), { stack })
}

/** The compiled process, wherever this file was loaded from. */
function processFile(): string {
  return createRequire(import.meta.url).resolve('#api-process')
}
