import { absoluteUrl } from '../../formats/store-url.js'
import type { Settings } from '../rota-options.js'
import type { Reread } from './read-again.js'

/** The settings after a reload: those that a running app can change are taken from the new config. */
export function settingsAfter(before: Settings, after: Settings): Settings {
  const { concurrency, retentionMs, queues } = after
  return { ...before, concurrency, retentionMs, queues }
}

/** The changed keys of a config that a running app cannot apply. */
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
