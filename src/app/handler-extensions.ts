import type { Feature } from '../features/feature.js'
import type { HandlerExtension } from '../handlers/executable-jobs.js'

/** Loads what the features add to the handlers of jobs. */
export async function loadHandlerExtensions(): Promise<readonly HandlerExtension[]> {
  const features: readonly Feature[] = Object.values(await import('../features/index.js'))
  return await Promise.all(features.flatMap(({ handlers }) => handlers?.() ?? []))
}
