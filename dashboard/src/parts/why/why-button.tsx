import type { ReactNode } from 'react'
import { words } from '../../words/why.js'
import { Button } from '../button.js'
import { askWhy, type WhyQuestion } from './why-address.js'

/** Opens the why panel. Without children it is a small button; a mark or a number may be its content. */
export function WhyButton({ children, ...question }: WhyQuestion & { children?: ReactNode }): ReactNode {
  return (
    <Button tone="quiet" onClick={() => askWhy(question)}>
      {children ?? words.button}
      <span className="visually-hidden">{words.of(question.trigger)}</span>
    </Button>
  )
}
