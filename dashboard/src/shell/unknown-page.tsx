import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { EmptyState } from '../parts/states.js'
import { words } from '../words/common.js'

/** Shown where no page has the address. */
export function UnknownPage(): ReactNode {
  const { title, text, home } = words.unknownPage
  return (
    <>
      <EmptyState title={title}>{text}</EmptyState>
      <Link href="/">{home}</Link>
    </>
  )
}
