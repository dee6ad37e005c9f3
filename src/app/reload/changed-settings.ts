import { absoluteUrl } from '../../formats/store-url.js'
import type { Settings } from '../rota-options.js'
import type { Reread } from './read-again.js'

/** The settings that a running app can change, taken from the config as it is now. */
export function settingsAfter(before: Settings, after: Settings): Settings {
  const { concurrency, retentionMs, queues } = after
  return { ...before, concurrency, retentionMs, queues }
}

/** The keys of a config that say something else than what the running app was started with, and that it cannot change. */
export function needsRestart(
  running: { readonly settings: Settings; readonly source: string; readonly storeUrl: string },
  { source, settings }: Reread,
): readonly string[] {
  const { settings: before } = running
  const isSame: Readonly<Record<string, boolean>> = {
    app: source === running.source,
    store: absoluteUrl(settings.store, settings.directory ?? '.') === running.storeUrl,
    lease: settings.leaseMs === before.leaseMs,
    durability: settings.durability === before.durability,
    bus: settings.offerAfterMs === before.offerAfterMs,
    serve: JSON.stringify(settings.serve) === JSON.stringify(before.serve),
  }
  return Object.keys(isSame).filter((key) => isSame[key] === false)
}
