import { useEffect, useState } from 'react'
import type { LogLine } from '../../../src/client/operations.js'

/** The lines of a log, and whether more may come. */
export interface Log {
  readonly lines: readonly LogLine[]
  /** How many of the first lines are not kept. */
  readonly dropped: number
  readonly isOpen: boolean
  readonly isLost: boolean
}

/** A page keeps this many lines; the newest count. */
const mostLines = 5000
const nothing: Log = { lines: [], dropped: 0, isOpen: true, isLost: false }

/** Follows the log of a run while it is shown; the server ends the stream when the run is final. */
export function useLog(id: string, attempt: number): Log {
  const [log, setLog] = useState<Log>(nothing)
  useEffect(() => {
    const stop = new AbortController()
    setLog(nothing)
    const add = (more: readonly LogLine[]): void =>
      setLog(({ lines, dropped, ...rest }) => {
        const all = [...lines, ...more]
        const over = Math.max(0, all.length - mostLines)
        return { ...rest, lines: all.slice(over), dropped: dropped + over }
      })
    follow(id, { add, signal: stop.signal })
      .then(() => setLog((before) => ({ ...before, isOpen: false })))
      .catch(() => {
        if (!stop.signal.aborted) setLog((before) => ({ ...before, isOpen: false, isLost: true }))
      })
    return () => stop.abort()
    // A retry opens the log again: the stream ended with the attempt before.
  }, [id, attempt])
  return log
}

async function follow(
  id: string,
  { add, signal }: { add: (lines: readonly LogLine[]) => void; signal: AbortSignal },
): Promise<void> {
  const response = await fetch(`./api/v1/runs/${encodeURIComponent(id)}/logs?follow=true`, { signal })
  if (!response.ok || response.body === null) throw new Error(`the log answered ${response.status}`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n')
    rest = parts.pop() ?? ''
    const lines = parts.filter((part) => part !== '').map((part) => JSON.parse(part) as LogLine)
    if (lines.length > 0) add(lines)
  }
}
