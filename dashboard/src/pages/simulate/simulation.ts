import { ApiError } from '../../../../src/client/client.js'
import type { Problem, Simulation } from '../../../../src/client/operations.js'

/** What is simulated, as the address and the form have it: texts. */
export interface Settings {
  readonly days: string
  readonly processes: string
  readonly concurrency: string
  readonly crash: string
  readonly unknown: string
  readonly seed: string
}

/** The names of the settings, in the order of the form. */
export const settingNames = ['days', 'processes', 'concurrency', 'crash', 'unknown', 'seed'] as const

/** How many triggers an answer lists. */
const mostTriggers = 200

/** What the server sends, one object a line. */
type Line = { readonly progress: number } | { readonly result: Simulation } | { readonly error: Problem }

/** Simulates on the server, and hears how far it is; the server stops when the signal aborts. */
export async function simulate(
  settings: Settings,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (share: number) => void },
): Promise<Simulation> {
  const query = new URLSearchParams({ progress: 'true', limit: String(mostTriggers) })
  for (const name of settingNames) if (settings[name] !== '') query.set(name, settings[name])
  const response = await fetch(`./api/v1/simulation?${query.toString()}`, { signal })
  if (!response.ok || response.body === null)
    throw new ApiError((await response.json().catch(() => ({}))) as Partial<Problem>, response.status)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the simulation ended without a result')
    const parts = (rest + value).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const line = JSON.parse(part) as Line
      if ('result' in line) return line.result
      if ('error' in line) throw new ApiError(line.error, line.error.status)
      onProgress(line.progress)
    }
  }
}

const wholes = {
  days: [1, 366],
  processes: [1, 100],
  concurrency: [1, 10_000],
  seed: [1, 0xffff_ffff],
} as const

/** The bounds of a setting that is a whole number. */
export function boundsOf(name: keyof Settings): readonly [number, number] | undefined {
  return name in wholes ? wholes[name as keyof typeof wholes] : undefined
}

/** Whether a setting can be sent; the server checks it again. */
export function isValid(name: keyof Settings, text: string): boolean {
  const bounds = boundsOf(name)
  if (bounds === undefined) return text === '' || /^(\d+(ms|s|m|h|d|w))+$/.test(text)
  return /^\d{1,10}$/.test(text) && Number(text) >= bounds[0] && Number(text) <= bounds[1]
}
