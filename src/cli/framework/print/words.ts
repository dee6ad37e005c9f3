/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** A word as it is typed into a shell. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") && !/["$`\\]/.test(word)
    ? `"${word}"`
    : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
