import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesUnder, importsOf, undocumented, withoutComments } from './repository.js'

const dashboard = filesUnder('dashboard', ['.ts', '.tsx', '.css'])

describe('the dashboard', () => {
  const code = dashboard.filter(({ path }) => path.startsWith('dashboard/src/') && !path.endsWith('.css'))

  test('it imports the client and its types, and nothing else of the sources', () => {
    const packages = ['react', 'react-dom/client', '@tanstack/react-query', 'wouter', 'uplot']
    const broken = code.flatMap(({ path, text }) =>
      importsOf(text)
        .filter((specifier) => {
          if (!specifier.startsWith('.')) return !packages.includes(specifier)
          const target = posix.join(posix.dirname(path), specifier)
          return !target.startsWith('dashboard/src/') && !target.startsWith('src/client/')
        })
        .map((specifier) => `${path} imports ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  test('a page imports no other page', () => {
    const pageOf = (path: string): string | undefined => /^dashboard\/src\/pages\/([^/]+)\//.exec(path)?.[1]
    const broken = code.flatMap(({ path, text }) =>
      importsOf(text)
        .map((specifier) => posix.join(posix.dirname(path), specifier))
        .filter((target) => path !== 'dashboard/src/pages/index.ts' && pageOf(target) !== undefined)
        .filter((target) => pageOf(target) !== pageOf(path))
        .map((target) => `${path} imports ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('texts of users are never read as HTML', () => {
    const pattern = /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/
    expect(code.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('colours are only in the tokens', () => {
    const pattern = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch)\(/i
    const broken = dashboard.filter(
      ({ path, text }) => path !== 'dashboard/src/design/tokens.css' && pattern.test(withoutComments(text)),
    )
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('sides are logical, so that the page also reads from right to left', () => {
    const pattern =
      /\b(?:margin|padding|border)-(?:left|right)\b|text-align: (?:left|right)|^\s*(?:left|right):/m
    const broken = dashboard.filter(({ path, text }) => path.endsWith('.css') && pattern.test(text))
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('no folder has more than 20 source files, and every exported name has a sentence', () => {
    const counts = new Map<string, number>()
    for (const { path } of code) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > 20)).toEqual([])
    expect(code.flatMap(({ path, text }) => undocumented(text).map((name) => `${path}: ${name}`))).toEqual([])
  })
})
