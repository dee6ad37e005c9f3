import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Reports, reporting } from '../../test/fixtures/reports.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { ShellSpec } from '../kernel/job/job.js'
import { systemClock, type Clock } from '../time/clock.js'
import { performShell, type ShellContext } from './perform-shell.js'
import { KILL_GRACE_MS } from './process-tree.js'

describe('stopping a command', () => {
  let directory: string
  let reports: Reports

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'rota-tree-'))
    reports = await Reports.open()
  })

  afterEach(() => reports.close())

  it('asks it to end and reports why it was stopped', async () => {
    const { context, controller } = contextFor(directory)
    const script = `${reporting}; process.on("SIGTERM", () => process.exit(0)); report("ready"); setInterval(() => 0, 1e6)`
    const performed = performShell(node(script, reports.port), context)
    await reports.next('ready')
    controller.abort(new RotaError('TIMED_OUT', 'took longer than 5 ms'))
    await expect(performed).rejects.toThrow(expect.objectContaining({ code: 'TIMED_OUT' }))
  })

  it('kills the whole tree after the grace period, also a grandchild that ignores SIGTERM and outlives its parent', async () => {
    const clock = new HeldGrace()
    const { context, controller } = contextFor(directory, clock)
    const grandchild = `${reporting}; process.on("SIGTERM", () => report("ignored")); report("ready " + process.pid); setInterval(() => 0, 1e6)`
    const child = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}, process.argv[1]], { stdio: "ignore" }); setInterval(() => 0, 1e6)`
    const performed = performShell(node(child, reports.port), context)
    const pid = Number((await reports.next('ready')).split(' ')[1])
    controller.abort()
    await reports.next('ignored')
    expect(isAlive(pid)).toBe(true)
    clock.endGrace()
    await expect(performed).rejects.toThrow(expect.objectContaining({ code: 'CANCELLED' }))
    await reports.closed()
  })

  it('ends before the grace period is over if the whole tree obeys', async () => {
    const clock = new HeldGrace()
    const { context, controller } = contextFor(directory, clock)
    const child = `${reporting}; require("child_process").spawn("sleep", ["1000"], { stdio: "inherit" }).once("spawn", () => report("ready")); setInterval(() => 0, 1e6)`
    const performed = performShell(node(child, reports.port), context)
    await reports.next('ready')
    controller.abort()
    await expect(performed).rejects.toThrow(expect.objectContaining({ code: 'CANCELLED' }))
    expect(clock.isGraceOpen).toBe(false)
  })

  it('does not start a command that was already aborted', async () => {
    const { context, controller } = contextFor(directory)
    controller.abort()
    const file = join(directory, 'started')
    await expect(performShell(shell('touch', file), context)).rejects.toThrow('stopped on request')
    expect(existsSync(file)).toBe(false)
  })

  it('leaves no listener on the signal and no timer behind', async () => {
    const clock = new HeldGrace()
    const { context, controller } = contextFor(directory, clock)
    let listeners = 0
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...call: Parameters<typeof add>) => (listeners++, add(...call))
    signal.removeEventListener = (...call: Parameters<typeof remove>) => (listeners--, remove(...call))
    await performShell(node('1'), context)
    await expect(performShell(shell('no-such-program'), context)).rejects.toThrow()
    expect(listeners).toBe(0)
    expect(clock.isGraceOpen).toBe(false)
  })

  it('when a command exits, its remaining processes are ended, and its result is kept', async () => {
    const { context } = contextFor(directory)
    const left = `${reporting}; report("ready " + process.pid); setInterval(() => 0, 1e6)`
    const script = `const c = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(left)}, process.argv[1]], { stdio: ["ignore", "inherit", "inherit", "ipc"] }); process.on("SIGUSR2", () => process.exit(0)); require("fs").writeFileSync("pid", String(process.pid))`
    const performed = performShell(node(script, reports.port), context)
    await reports.next('ready')
    process.kill(Number(readFileSync(join(directory, 'pid'), 'utf8')), 'SIGUSR2')
    await expect(performed).resolves.toEqual({ exitCode: 0, stdout: '' })
    await reports.closed()
  })

  it('a process that left the group and keeps the output open does not block the run', async () => {
    const clock = new HeldGrace()
    const { context } = contextFor(directory, clock)
    const away = `${reporting}; report("ready " + process.pid); setInterval(() => 0, 1e6)`
    const script = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(away)}, process.argv[1]], { stdio: ["ignore", "inherit", "inherit"], detached: true }).unref()`
    const performed = performShell(node(script, reports.port), context)
    const pid = Number((await reports.next('ready')).split(' ')[1])
    await clock.graceOpened
    clock.endGrace()
    await expect(performed).resolves.toEqual({ exitCode: 0, stdout: '' })
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await reports.closed()
  })
})

/** The machine's clock, but the test ends the grace period of a kill. */
class HeldGrace implements Clock {
  #open: (() => void) | undefined
  #opened: () => void = () => undefined
  readonly graceOpened = new Promise<void>((resolve) => {
    this.#opened = resolve
  })

  get isGraceOpen(): boolean {
    return this.#open !== undefined
  }

  endGrace(): void {
    this.#open?.()
    this.#open = undefined
  }

  defer(act: () => void): void {
    systemClock.defer(act)
  }

  timer(ms: number, fire: () => void): () => void {
    if (ms !== KILL_GRACE_MS) return systemClock.timer(ms, fire)
    this.#open = fire
    this.#opened()
    return () => {
      this.#open = undefined
    }
  }

  now = systemClock.now.bind(systemClock)
  monotonicMs = systemClock.monotonicMs.bind(systemClock)
  uptimeMs = systemClock.uptimeMs.bind(systemClock)
  sleep = systemClock.sleep.bind(systemClock)
  sleepUntil = systemClock.sleepUntil.bind(systemClock)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function shell(...argv: string[]): ShellSpec {
  return { kind: 'shell', argv }
}

function node(script: string, ...words: string[]): ShellSpec {
  return shell(process.execPath, '-e', script, ...words)
}

function contextFor(
  directory: string,
  clock: Clock = systemClock,
): { context: ShellContext; controller: AbortController } {
  const controller = new AbortController()
  const run = {
    id: 'run-1',
    job: 'job',
    trigger: undefined,
    attempt: 1,
    isLastAttempt: true,
    dueAt: 0,
    partition: undefined,
    payload: null,
  }
  const environment = { PATH: process.env['PATH'] }
  const context = { run, signal: controller.signal, log: () => undefined, clock, environment, directory }
  return { context, controller }
}
