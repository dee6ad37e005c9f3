import { Component, useEffect, type ReactNode } from 'react'
import { Button } from '../parts/button.js'
import { words } from '../words/common.js'
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

/** React tells errors of rendering to classes only. */
class Catch extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div role="alert">
        <h1>{words.error.page}</h1>
        <p>{error.message}</p>
        <Button onClick={() => location.reload()}>{words.error.reload}</Button>
      </div>
    )
  }
}
