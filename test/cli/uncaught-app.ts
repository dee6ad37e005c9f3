import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { emptyDirectory, start, type Ended, type Running } from './rota.js'

const library = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)
const running = new Set<Running>()

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
})

/** Code that defines `wait(ms)`. */
export const wait = `const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))`

/** An app whose jobs are due immediately, with more code after them. */
export function app(jobs: Readonly<Record<string, string>>, more = ''): string {
  const defined = Object.entries(jobs).map(
    ([name, code]) =>
      `app.schedule('${name}', { job: app.job('${name}', ${code}), at: '2026-01-01T00:00:00Z' })`,
  )
  return `import { rota } from ${library}
    ${wait}
    const app = rota({ app: 'own', store: 'memory:' })
    ${defined.join('\n')}
    ${more}`
}

/** Starts an engine with an app that does not outlive its test. */
export function up(code: string, ...args: readonly string[]): Running {
  const cwd = emptyDirectory()
  writeFileSync(join(cwd, 'rota.config.mjs'), `${code}\nexport default app`)
  const engine = start(['up', '--json', ...args], { cwd })
  running.add(engine)
  return engine
}

/** The lines that it printed, as data. */
export function linesOf({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
