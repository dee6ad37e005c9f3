import { describe, expect, it } from 'vitest'
import { errorText, listedLines, namedText, quotedText } from './error-text.js'

const long = 'x'.repeat(1_000_000)

describe('user texts in messages', () => {
  it.each([
    ['nightly', 'nightly'],
    ['a.b:c@d/e-f_g', 'a.b:c@d/e-f_g'],
    ['größe', 'größe'],
    ['', '""'],
    [';', '";"'],
    ['a b', '"a b"'],
    ['a\u001b[31mb', String.raw`"a\u001b[31mb"`],
    ['a\u009bb', String.raw`"a\x9bb"`],
    ['a\u202eb', String.raw`"a\u202eb"`],
    ['\ud800', String.raw`"\ud800"`],
    [long, `"${'x'.repeat(60)}…"`],
    // A surrogate pair is not cut in half.
    [`${'x'.repeat(59)}😀😀`, `"${'x'.repeat(59)}…"`],
  ])('the beginning and end of a name are clear: %#', (name, shown) => {
    expect(namedText(name)).toBe(shown)
  })

  it('are quoted, escaped and cut', () => {
    expect(quotedText('a"b\n')).toBe(String.raw`"a\"b\n"`)
    expect(quotedText(long).length).toBeLessThan(70)
  })

  it('keep a message on one bounded line with its beginning and end', () => {
    const message = errorText(`no job is named ${long}; \`rota list --jobs\` lists them\u001b[2J`)
    expect(message.length).toBeLessThan(1700)
    expect(message).toMatch(/^no job is named xxx/)
    expect(message).toContain('characters… ')
    expect(message).toMatch(/lists them\\x1b\[2J$/)
    expect(errorText('a\r\nb')).toBe(String.raw`a\r\nb`)
  })

  it('are listed up to a limit, with the number of the others', () => {
    const lines = listedLines(Array.from({ length: 1000 }, (_, index) => `fault ${index}`))
    expect(lines.length).toBe(21)
    expect(lines.at(-1)).toBe('… and 980 more')
  })
})
