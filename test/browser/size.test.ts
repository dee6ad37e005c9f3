import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { root } from '../repository.js'

const folder = join(root, 'dist', 'dashboard')
const packed = new Map(
  readdirSync(join(folder, 'assets')).map((name) => [
    name,
    gzipSync(readFileSync(join(folder, 'assets', name))).length / 1000,
  ]),
)

/** The files that a page of HTML asks for at once. */
const first = [...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/assets\/([^"]+)"/g)].map(
  ([, name = '']) => name,
)

const sum = (names: readonly string[]): number => names.reduce((kB, name) => kB + (packed.get(name) ?? 0), 0)

describe('the built dashboard', () => {
  it('has a first load of at most 140 kB packed', () => {
    expect(first.length).toBeGreaterThan(1)
    expect(sum(first)).toBeLessThanOrEqual(140)
  })

  it('loads at most 40 kB more for any page', () => {
    const later = [...packed.keys()].filter((name) => !first.includes(name))
    expect(later.length).toBeGreaterThan(0)
    expect(later.filter((name) => (packed.get(name) ?? 0) > 40)).toEqual([])
  })

  it('has at most 260 kB in all, and nothing from elsewhere', () => {
    expect(sum([...packed.keys()])).toBeLessThanOrEqual(260)
    const styles = [...packed.keys()].filter((name) => name.endsWith('.css'))
    const foreign = styles.filter((name) =>
      /https?:|@font-face/.test(readFileSync(join(folder, 'assets', name), 'utf8')),
    )
    expect(foreign).toEqual([])
  })
})
