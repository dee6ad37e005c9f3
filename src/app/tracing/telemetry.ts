import type * as Api from '@opentelemetry/api'

/** The OpenTelemetry API of this process. */
export type Telemetry = typeof Api

/** Where every copy of the API keeps the registered SDK. */
const registry = Symbol.for('opentelemetry.js.api.1')

/** The API, if the program has registered an SDK that traces; otherwise nothing is loaded. */
export async function registeredTelemetry(): Promise<Telemetry | undefined> {
  const registered = (globalThis as { [registry]?: { readonly trace?: unknown } })[registry]
  if (registered?.trace === undefined) return undefined
  try {
    return await import('@opentelemetry/api')
  } catch {
    // The SDK has a copy of the API that Rota cannot find: it traces everything except Rota.
    return undefined
  }
}
