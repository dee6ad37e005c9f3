/** A word as it is typed into a shell. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") && !/["$`\\]/.test(word)
    ? `"${word}"`
    : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
