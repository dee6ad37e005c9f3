import { isFinal } from '../../kernel/run/run.js'
import { safeHeaders } from '../../server/answer.js'
import { toJson } from '../../wire/to-json.js'
import { logLineView } from '../../wire/views/runs.js'
import type { App } from '../rota.js'

/** How many lines are read at a time. */
const linesPerLook = 500

/** Streams the log of a run: one JSON object per line, until the run is final or the reader disconnects. */
export function logStream(app: App, request: { id: string; after: number; signal: AbortSignal }): Response {
  const encoder = new TextEncoder()
  const lines = logLines(app, request)
  const body = new ReadableStream<Uint8Array>({
    // Called only when the reader can take more: a slow reader needs no buffer here.
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
    // Read before the lines, so that all lines up to the final state are included.
    const { state } = await app.runs.get(id)
    const lines = await app.runs.logs(id, { after: last, limit: linesPerLook })
    if (lines.length > 0) yield lines.map((line) => `${JSON.stringify(toJson(logLineView(line)))}\n`).join('')
    last = lines.at(-1)?.seq ?? last
    if (lines.length === linesPerLook) continue
    if (isFinal(state)) return
    await app.runs.wait(id, { signal: AbortSignal.any([signal, AbortSignal.timeout(pollMs)]) })
  }
}

/** How often a growing log is read. */
const pollMs = 500
