import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boundError,
  boundLogLine,
  boundText,
  emptyLog,
  logCutText,
  maxErrorBytes,
  maxLogBytes,
  maxLogLineBytes,
  maxLogLines,
  type LogUse,
} from './bounds.js'

const bytesOf = (text: string | undefined): number => Buffer.byteLength(text ?? '')

describe('texts', () => {
  it('a text that fits stays unchanged, a longer one is cut and marked', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.integer({ min: 20, max: 100 }),
        (text, bound) => {
          const cut = boundText(text, bound)
          if (bytesOf(text) <= bound) {
            expect(cut).toBe(text)
            return
          }
          expect(bytesOf(cut)).toBeLessThanOrEqual(bound)
          expect(cut.endsWith('… [cut]')).toBe(true)
          expect(text.startsWith(cut.slice(0, -'… [cut]'.length))).toBe(true)
        },
      ),
    )
  })

  it.each([
    { text: 'a'.repeat(30), bound: 30, cut: 'a'.repeat(30) },
    { text: 'a'.repeat(31), bound: 30, cut: `${'a'.repeat(21)}… [cut]` },
    { text: 'é'.repeat(16), bound: 30, cut: `${'é'.repeat(10)}… [cut]` },
    { text: '😀'.repeat(8), bound: 30, cut: `${'😀'.repeat(5)}… [cut]` },
  ])('$text in $bound bytes', ({ text, bound, cut }) => {
    expect(boundText(text, bound)).toBe(cut)
  })
})

describe('errors', () => {
  it.each([
    { message: 10, stack: 10 },
    { message: 10, stack: maxErrorBytes * 2 },
    { message: maxErrorBytes * 2, stack: 10 },
    { message: maxErrorBytes - 5, stack: 100 },
  ])('a message of $message and a stack of $stack bytes fit together', ({ message, stack }) => {
    const bound = boundError({ code: 'X', message: 'm'.repeat(message), stack: 's'.repeat(stack) })
    expect(bound.code).toBe('X')
    expect(bytesOf(bound.message) + bytesOf(bound.stack)).toBeLessThanOrEqual(maxErrorBytes)
    expect(bytesOf(bound.message)).toBe(Math.min(message, maxErrorBytes))
  })

  it('an error without a stack gets none', () => {
    expect(boundError({ code: 'X', message: 'm' })).toEqual({ code: 'X', message: 'm' })
  })
})

describe('logs', () => {
  const write = (texts: readonly string[]): string[] => {
    let use: LogUse = emptyLog
    const kept: string[] = []
    for (const text of texts) {
      const bound = boundLogLine(use, { run: 'r', attempt: 1, at: 0, level: 'info', text })
      use = bound.use
      if (bound.line !== undefined) kept.push(bound.line.text)
    }
    return kept
  }

  it.each([
    { what: 'as many lines as allowed', lines: maxLogLines, length: 1, kept: maxLogLines, isCut: false },
    { what: 'one line more', lines: maxLogLines + 1, length: 1, kept: maxLogLines + 1, isCut: true },
    { what: 'many lines more', lines: maxLogLines * 2, length: 1, kept: maxLogLines + 1, isCut: true },
    { what: 'as many bytes as allowed', lines: 32, length: maxLogLineBytes, kept: 32, isCut: false },
    { what: 'one more line of bytes', lines: 33, length: maxLogLineBytes, kept: 33, isCut: true },
  ])('$what', ({ lines, length, kept, isCut }) => {
    const texts = write(Array.from({ length: lines }, () => 'x'.repeat(length)))
    expect(texts).toHaveLength(kept)
    expect(texts.at(-1) === logCutText).toBe(isCut)
  })

  it('a line is truncated to its own limit', () => {
    const [line] = write(['x'.repeat(maxLogBytes)])
    expect(bytesOf(line)).toBe(maxLogLineBytes)
  })
})
