import { boundLogLine, emptyLog, logCutText } from '../../../kernel/definition/bounds.js'
import type { LogLine } from '../../../kernel/run/run.js'
import type { StoredLogLine } from '../../port.js'
import type { Directory } from './directory.js'
import { logName } from './record.js'
import type { LogState, State } from '../state.js'

/** Appends lines to the logs of existing runs, within their size limits. */
export function log(directory: Directory, state: State, lines: readonly LogLine[]): void {
  for (const given of lines) {
    if (!state.tables.runs.has(given.run)) continue
    const known = state.logs.get(given.run) ?? logStateOf(readLog(directory, given.run))
    const { use, line } = boundLogLine(known.use, given)
    state.logs.set(given.run, { use, count: known.count + (line === undefined ? 0 : 1) })
    if (line === undefined) continue
    const added = state.newLines.get(given.run) ?? []
    added.push({ ...line, seq: known.count + 1 })
    state.newLines.set(given.run, added)
  }
}

/** The lines of a run's log, without a line that is being written. */
export function readLog(directory: Directory, run: string): StoredLogLine[] {
  const text = directory.text(logName(run)) ?? ''
  const lines = text.split('\n').slice(0, -1)
  return lines.flatMap((line) => {
    try {
      return [{ ...(JSON.parse(line) as StoredLogLine), run }]
    } catch {
      return []
    }
  })
}

function logStateOf(lines: readonly StoredLogLine[]): LogState {
  const isCut = lines.at(-1)?.text === logCutText
  const kept = isCut ? lines.slice(0, -1) : lines
  const bytes = kept.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return { use: lines.length === 0 ? emptyLog : { lines: kept.length, bytes, isCut }, count: lines.length }
}
