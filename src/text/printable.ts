import { isUtf8 } from 'node:buffer'

// Control characters would move a terminal's cursor, direction marks would let it show another text, and half
// a character is not text.
const unprintable =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu

/** Text with every unprintable character escaped; tabs stay. */
export function printable(text: string): string {
  return text.replace(unprintable, escapeOf)
}

/** Bytes as printable text; if they are not UTF-8, each byte beyond ASCII is escaped. */
export function printableBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return printable(bytes.toString('utf8'))
  const ascii = bytes.toString('latin1')
  return printable(ascii).replace(/[\u00a0-\u00ff]/g, escapeOf)
}

/** The longest prefix of the bytes, up to a length, that does not end inside a UTF-8 character. */
export function wholeCharacters(bytes: Buffer, length: number): Buffer {
  if (bytes.length <= length) return bytes
  let end = length
  while (end > length - 3 && end > 0 && isContinuation(bytes[end])) end -= 1
  return bytes.subarray(0, end)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  const code = character.charCodeAt(0)
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}
