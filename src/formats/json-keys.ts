/** A key of a JSON text: where it and its value are written, as offsets of characters. */
export interface JsonKey {
  /** The names of the maps it is in, outermost first, and its own. */
  readonly path: readonly string[]
  readonly offset: number
  readonly valueOffset: number
}

/** The keys of the outer map of a JSON text that is known to be valid, and of the maps right inside it, in the order of the text. */
export function jsonKeys(text: string): readonly JsonKey[] {
  const found: JsonKey[] = []
  /** The open brackets: `{` or `[`. */
  const open: string[] = []
  const path: string[] = []
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    if (char === '{' || char === '[') open.push(char)
    else if (char === '}' || char === ']') {
      open.pop()
      path.length = Math.min(path.length, open.length)
    } else if (char === '"') {
      const end = endOfString(text, i)
      const colon = afterSpace(text, end + 1)
      if (text[colon] === ':' && open.at(-1) === '{' && open.length <= deepest) {
        path.length = open.length - 1
        path.push(JSON.parse(text.slice(i, end + 1)) as string)
        found.push({ path: [...path], offset: i, valueOffset: afterSpace(text, colon + 1) })
      }
      i = end
    }
  }
  return found
}

const deepest = 2

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1
    else if (text[i] === '"') return i
  }
  return text.length
}

function afterSpace(text: string, from: number): number {
  let i = from
  while (i < text.length && /\s/.test(text[i] as string)) i += 1
  return i
}
