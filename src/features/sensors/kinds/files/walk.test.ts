import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { walkFiles, type Walk } from './walk.js'

test('a walk that is resumed after any of its steps continues with the next one', async () => {
  const name = fc.constantFrom('a', 'a.b', 'a-b', 'b', 'B', 'ä', '0')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  await fc.assert(
    fc.asyncProperty(fc.array(path, { maxLength: 20 }), fc.integer({ min: 1, max: 4 }), inTree),
    { numRuns: 40 },
  )
})

async function inTree(paths: readonly string[], namesAtOnce: number): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'rota-walk-'))
  try {
    const files = paths.filter((path) => write(root, path))
    const whole = await stepsOf({ root, namesAtOnce })
    expect(new Set(whole.filter(({ kind }) => kind === 'file').map(({ path }) => path))).toEqual(
      new Set(files),
    )
    for (const [index, { path }] of whole.entries())
      expect(await stepsOf({ root, namesAtOnce, after: path })).toEqual(whole.slice(index + 1))
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** Writes a file, unless something of another kind is in its way. */
function write(root: string, path: string): boolean {
  try {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '')
    return true
  } catch {
    return false
  }
}

async function stepsOf(walk: Pick<Walk, 'root' | 'namesAtOnce'> & { after?: string }) {
  const steps = []
  const rest = { base: '', depth: Infinity, after: '', followSymlinks: false, isStopped: () => false }
  for await (const step of walkFiles({ ...rest, ...walk })) steps.push(step)
  return steps
}
