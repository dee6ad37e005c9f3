/**
 * Server-sent events over `fetch`. The browser's own EventSource cannot send the id of the last message with its first
 * request, so a tab that takes over the stream of another one would miss what happened between; and it hides statuses.
 */

/** One message of a stream. */
export interface StreamMessage {
  readonly event: string
  readonly data: string
  readonly id: string
}

/** Reads the messages of a stream until it ends or the signal aborts. Comments (pings) come as the event `ping`. */
export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamMessage> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) yield messageOf(part)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function messageOf(text: string): StreamMessage {
  const lines = text.split('\n')
  const field = (name: string): string =>
    lines
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join('\n')
  return { event: text.startsWith(':') ? 'ping' : field('event'), data: field('data'), id: field('id') }
}
