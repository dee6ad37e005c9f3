// Shared by all measurements: fresh processes, statistics, scratch directories.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The build of Rota that is measured; ROTA_DIST names another one. */
export const dist = process.env.ROTA_DIST ?? fileURLToPath(new URL('../dist', import.meta.url))

/** Loads a module of the build. */
export function fromDist(path) {
  return import(pathToFileURL(resolve(dist, path)).href)
}

/** Runs one of the scripts here in a fresh process and returns the JSON of its last line. */
export async function inChild(script, flags, options = {}) {
  const { timeoutMs = 300_000, nodeFlags = [], node = process.execPath } = options
  const path = fileURLToPath(new URL(script, import.meta.url))
  const texts = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(node, [...nodeFlags, path, ...texts], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (errors += data))
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const code = await new Promise((done) => child.on('close', done))
  clearTimeout(timer)
  const last = out.trimEnd().split('\n').at(-1) ?? ''
  if (code === 0) return JSON.parse(last)
  return { error: `${script} ${texts.join(' ')} ended with ${code}: ${errors.trim().slice(-800)}` }
}

/** Ends a child's script with its result. */
export function report(result) {
  process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0))
}

/** Calls an action with a directory that is removed afterwards. */
export async function inScratch(parent, action) {
  const directory = mkdtempSync(join(parent ?? tmpdir(), 'rota-bench-'))
  try {
    return await action(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The median. */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b)
  if (sorted.length === 0) return undefined
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The medians of the numbers of several results of the same shape. */
export function medians(results) {
  const good = results.filter((result) => result.error === undefined)
  if (good.length === 0) return { error: results[0]?.error ?? 'not measured' }
  const names = Object.keys(good[0])
  return Object.fromEntries(
    names.map((name) => {
      const values = good.map((result) => result[name])
      return [name, typeof values[0] === 'number' ? median(values) : values[0]]
    }),
  )
}

/** The value below which a share of all values lies. */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls an action for 0 … count − 1 or until it is over, with at most `width` concurrent calls. */
export async function inFlight(count, width, action, isOver = () => false) {
  let next = 0
  const lane = async () => {
    while (next < count && !isOver()) await action(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane))
}

/** The CPU usage of this process over some time, in percent of one core. */
export async function cpuWhile(ms) {
  const before = process.cpuUsage()
  const startMs = performance.now()
  await sleep(ms)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 10 / (performance.now() - startMs)
}

/** The resident memory in MiB, after a garbage collection and a pause if possible: pages are released late. */
export async function residentMiB() {
  globalThis.gc?.()
  if (globalThis.gc !== undefined) await sleep(2000)
  return process.memoryUsage().rss / 2 ** 20
}
