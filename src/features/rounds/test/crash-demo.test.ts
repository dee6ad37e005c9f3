import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../../../test/repository.js'

const program = join(root, 'examples/rounds/crash-demo.mjs')

it('R14: a round that is killed with two or three services started continues and repeats nothing', async () => {
  const { code, lines } = await run([], { PACE: '0.25' })
  const saved = /^saved: (.*) finished, (s\d) current$/.exec(
    lines.find((line) => line.startsWith('saved')) ?? '',
  )
  const finished = saved?.[1]?.split(', ') ?? []
  const current = saved?.[2]
  const begunAfter = lines.flatMap(
    (line) => /^second: (s\d) started, attempt (\d)/.exec(line)?.slice(1) ?? [],
  )
  const all = ['s1', 's2', 's3', 's4', 's5']
  expect(finished).toEqual(all.slice(0, finished.length))
  expect(current).toBe(all[finished.length])
  // The interrupted service goes first, as the next attempt; then the others, in order.
  const [, ...rest] = all.slice(finished.length)
  expect(begunAfter).toEqual([current, '2', ...rest.flatMap((service) => [service, '1'])])
  expect(lines.at(-1)).toBe('nothing was repeated')
  expect(code).toBe(0)
}, 60_000)

it('R14: the full version also shows the saved state, and continues to the next cycle', async () => {
  const { code, lines } = await run(['full'], { PACE: '0.1', ROUND_EVERY: '12s' })
  expect(lines.find((line) => line.startsWith('state: '))).toContain('"servicesQueue":[')
  expect(lines.find((line) => line.startsWith('timing: '))).toContain('"intervalSeconds":12')
  const after = lines.slice(lines.findIndex((line) => line.startsWith('the next cycle')))
  expect(after).toContain('second: s1 started, attempt 1')
  expect(code).toBe(0)
}, 90_000)

async function run(
  words: readonly string[],
  given: Readonly<Record<string, string>>,
): Promise<{ code: number | null; lines: string[] }> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...env, ...given },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, lines: output.trim().split('\n') }
}
