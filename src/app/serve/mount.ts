import { ApiProcess } from './api-process-of.js'
import type { HandlerOptions, Served } from './app-handler.js'
import { serve, type AppParts } from './served.js'

/** Serves an app inside another program. A reader process answers what needs only the store, if it can open it. */
export async function mount(parts: AppParts, options: HandlerOptions): Promise<Served> {
  const { context } = parts
  const { storeForReader: store } = context
  if (store === undefined) return await serve(parts, options)
  const { readOnly } = options
  const answer = (...given: Parameters<Served['fetch']>): Promise<Response> => served.fetch(...given)
  const reader = new ApiProcess({ context, store, readOnly, listen: undefined, answer })
  const served = await serve(parts, { ...options, other: { process: reader, isApp: false } })
  context.join({ stop: () => reader.stop() })
  return {
    ...served,
    close: async () => {
      await served.close()
      // The app waits for its end when it stops; the surrounding program need not wait.
      void reader.stop()
    },
  }
}
