/** How many columns a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (plainAscii.test(text)) return text.length
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** A text truncated to a number of columns, with a mark if something is missing. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += characterWidth(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}

const plainAscii = /^[\x20-\x7e]*$/
const joining = /^(?:\p{M}|[\u200b-\u200d])$/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

function characterWidth(character: string): number {
  if (joining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}
