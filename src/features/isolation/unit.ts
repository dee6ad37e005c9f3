import type { Readable } from 'node:stream'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Isolation } from '../../kernel/job/job.js'
import type { Clock } from '../../time/clock.js'
import { heardFrom, sealed, type FromIsolated, type ToIsolated } from './messages.js'
import { ProcessTree, type ProcessEnd } from '../../handlers/process-tree.js'
import type { Environment } from '../../handlers/shell-env.js'

/** The thread or process of one attempt. */
export interface IsolatedUnit {
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves with how it ended, when it and everything it started is gone and all output was read. */
  readonly ended: Promise<string>
  send(message: ToIsolated): void
  /** Ends it after its result. */
  end(): void
  /** Terminates it, whatever it is doing. */
  kill(): void
}

/** What a thread or process is started with. */
export interface UnitOptions {
  readonly isolate: Isolation
  /** The compiled module that performs what the worker sends. */
  readonly entry: string
  readonly clock: Clock
  readonly environment: Environment
  readonly directory: string | undefined
  readonly hear: (message: FromIsolated) => void
}

/** Starts a thread or process that waits for its task. */
export function startUnit(options: UnitOptions): IsolatedUnit {
  return options.isolate.kind === 'thread' ? startThread(options) : startProcess(options)
}

function startThread({ isolate, entry, hear }: UnitOptions): IsolatedUnit {
  // A separate port, because the thread's own port belongs to the module of the handler.
  const { port1: port, port2: other } = new MessageChannel()
  const thread = new Worker(entry, {
    workerData: { port: other },
    transferList: [other],
    // Flags of the program, such as --input-type, are not meant for the thread and might prevent its start.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: isolate.memoryMb },
  })
  port.on('message', (value: unknown) => {
    const message = heardFrom(value)
    if (message !== undefined) hear(message)
  })
  let problem: string | undefined
  thread.on('error', (error: unknown) => (problem = problemOf(error, isolate)))
  const exited = new Promise<string>((resolve) => {
    thread.once('exit', (code) => {
      port.close()
      resolve(problem ?? `exit ${code}`)
    })
  })
  const printed = [thread.stdout, thread.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.once('close', () => resolve())),
  )
  const kill = (): void => void thread.terminate()
  return {
    stdout: thread.stdout,
    stderr: thread.stderr,
    ended: Promise.all([exited, ...printed]).then(([how]) => how),
    send: (message) => port.postMessage(sealed(message)),
    end: kill,
    kill,
  }
}

function problemOf(error: unknown, { memoryMb }: Isolation): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? `it exceeded its memory limit of ${memoryMb} MiB`
    : String(message ?? error)
}

function startProcess(options: UnitOptions): IsolatedUnit {
  const { isolate, entry, clock, environment, directory, hear } = options
  const argv = [process.execPath, `--max-old-space-size=${isolate.memoryMb}`, entry]
  const present = Object.entries(environment).filter(
    (variable): variable is [string, string] => variable[1] !== undefined,
  )
  const tree = new ProcessTree(
    {
      argv,
      env: Object.fromEntries(present),
      cwd: directory,
      onMessage: (value) => {
        const message = heardFrom(value)
        if (message !== undefined) hear(message)
      },
    },
    clock,
  )
  return {
    stdout: tree.stdout,
    stderr: tree.stderr,
    ended: tree.ended.then(howItEnded, (error: Error) => error.message),
    send: (message) => tree.send(sealed(message)),
    end: () => tree.stop(),
    kill: () => tree.kill(),
  }
}

function howItEnded({ exitCode, signal }: ProcessEnd): string {
  return signal === null ? `exit ${exitCode}` : `killed by ${signal}`
}
