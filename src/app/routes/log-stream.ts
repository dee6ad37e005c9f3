import { isFinal } from '../../kernel/run/run.js'
import { safeHeaders } from '../../server/answer.js'
import { toJson } from '../../wire/to-json.js'
import { logLineView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'

/** How many lines are read at a time. */
const linesPerLook = 500

/** The log of a run as it grows: one JSON object a line, until the run is final or the reader is gone. */
export function logStream(app: App, request: { id: string; after: number; signal: AbortSignal }): Response {
  const encoder = new TextEncoder()
  const lines = logLines(app, request)
  const body = new ReadableStream<Uint8Array>({
    // Called only while the reader takes more: a slow one holds nothing here.
    pull: async (controller) => {
      const { value, done } = await lines.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await lines.return(undefined)),
  })
  return new Response(body, { headers: { ...safeHeaders, 'content-type': 'application/x-ndjson' } })
}

async function* logLines(
  app: App,
  { id, after, signal }: { id: string; after: number; signal: AbortSignal },
): AsyncGenerator<string, void> {
  for (let last = after; !signal.aborted; ) {
    // Before the lines: those that were written until it was final are then among them.
    const { state } = await app.runs.get(id)
    const lines = await app.runs.logs(id, { after: last, limit: linesPerLook })
    if (lines.length > 0) yield lines.map((line) => `${JSON.stringify(toJson(logLineView(line)))}\n`).join('')
    last = lines.at(-1)?.seq ?? last
    if (lines.length === linesPerLook) continue
    if (isFinal(state)) return
    await app.runs.wait(id, { signal: AbortSignal.any([signal, AbortSignal.timeout(pollMs)]) })
  }
}

/** How often a log that grows is looked at. */
const pollMs = 500
