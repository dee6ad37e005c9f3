import type { ReactNode } from 'react'

/** A text whose commands stand between backquotes, as a terminal prints it. */
export function WithCode({ text }: { text: string }): ReactNode {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>))
}
