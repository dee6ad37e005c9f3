import type * as Api from '@opentelemetry/api'

/** The OpenTelemetry API of this process. */
export type Telemetry = typeof Api

/** Where every copy of the API keeps what an SDK has registered. */
const registry = Symbol.for('opentelemetry.js.api.1')

/** The API, if the program has registered an SDK that traces; otherwise nothing is loaded. */
export async function registeredTelemetry(): Promise<Telemetry | undefined> {
  const registered = (globalThis as { [registry]?: { readonly trace?: unknown } })[registry]
  if (registered?.trace === undefined) return undefined
  try {
    return await import('@opentelemetry/api')
  } catch {
    // An SDK with a copy of the API that Rota cannot find: it traces everything but Rota.
    return undefined
  }
}
