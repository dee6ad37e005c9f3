/** Breaks a text at its spaces into lines of at most a width; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
