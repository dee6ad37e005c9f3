import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { busyConfig } from './configs.js'
import { site } from './site.js'

const folder = join(root, 'dist', 'dashboard')
const packed = new Map(
  readdirSync(join(folder, 'assets')).map((name) => [
    name,
    gzipSync(readFileSync(join(folder, 'assets', name))).length / 1000,
  ]),
)

/** The assets that the HTML page loads first. */
const first = [...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/assets\/([^"]+)"/g)].map(
  ([, name = '']) => name,
)

const sum = (names: readonly string[]): number => names.reduce((kB, name) => kB + (packed.get(name) ?? 0), 0)

/** The paths of all pages. Pages with a parameter also load if nothing has that name. */
const paths = [
  ...readFileSync(join(root, 'dashboard/src/pages/index.ts'), 'utf8').matchAll(/path: '([^']+)'/g),
].map(([, path = '']) => path.replace(/:\w+/, 'nothing'))

describe('the built dashboard', () => {
  const { served, browser } = site({ config: busyConfig })

  it('has a first load of at most 140 kB gzipped', () => {
    expect(first.length).toBeGreaterThan(1)
    expect(sum(first)).toBeLessThanOrEqual(140)
  })

  it.each(paths)('loads at most 40 kB more for %s', async (path) => {
    const page = await browser.open('about:blank')
    const asked = new Set<string>()
    page.on('request', (request) => {
      const [, name] = /\/assets\/([^/]+)$/.exec(request.url()) ?? []
      if (name !== undefined) asked.add(name)
    })
    await page.goto(`${served.url}/#${path}`, { waitUntil: 'domcontentloaded' })
    await page.locator('#content').locator('h1, h2, h3').first().waitFor({ state: 'attached' })
    expect(first.filter((name) => !asked.has(name))).toEqual([])
    const later = [...asked].filter((name) => !first.includes(name))
    expect(later.length).toBeGreaterThan(0)
    expect(sum(later)).toBeLessThanOrEqual(40)
    await page.close()
  })

  it('has at most 260 kB in total, and loads nothing from other hosts', () => {
    expect(sum([...packed.keys()])).toBeLessThanOrEqual(260)
    const styles = [...packed.keys()].filter((name) => name.endsWith('.css'))
    const foreign = styles.filter((name) =>
      /https?:|@font-face/.test(readFileSync(join(folder, 'assets', name), 'utf8')),
    )
    expect(foreign).toEqual([])
  })
})
