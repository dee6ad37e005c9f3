import { Component, useEffect, useState, type ReactNode } from 'react'
import { Button } from '../parts/button.js'
import { words } from '../words/common.js'
import { useLive } from '../data/live-context.js'
import { useHashPath } from '../data/location.js'

/** Names the page in the title of the window, and shows a page that failed instead of a white screen. */
export function PageBoundary({ title, children }: { title: string; children: ReactNode }): ReactNode {
  const [path] = useHashPath()
  useEffect(() => {
    document.title = `${title} · ${words.product}`
  }, [title])
  // Another page is another try.
  return <Catch key={path}>{children}</Catch>
}

/** The code of a page did not arrive. */
export class PageNotLoaded extends Error {}

/** Browsers remember a failed load, so the whole page is loaded again as soon as the server is back. */
function NotLoaded(): ReactNode {
  const { state } = useLive()
  const [wasLive] = useState(state === 'live')
  useEffect(() => {
    if (!wasLive && state === 'live') location.reload()
  }, [wasLive, state])
  return <Failed title={words.error.notLoaded}>{words.error.unreachable}</Failed>
}

function Failed({ title, children }: { title: string; children: string }): ReactNode {
  return (
    <div role="alert">
      <h1>{title}</h1>
      <p>{children}</p>
      <Button onClick={() => location.reload()}>{words.error.reload}</Button>
    </div>
  )
}

/** React reports errors of rendering to class components only. */
class Catch extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return error instanceof PageNotLoaded ? (
      <NotLoaded />
    ) : (
      <Failed title={words.error.page}>{error.message}</Failed>
    )
  }
}
