import type { App } from '../../app/rota.js'
import type { Host, Surroundings } from '../framework/command.js'

/** Provides apps, configs and stores to commands; each part is loaded on first use. */
export function hostOf(here: Surroundings): Host<App> {
  return {
    withApp: async (use, options) => await (await openings()).withApp(here, use, options),
    withConfigApp: async (use) => await (await openings()).withConfigApp(here, use),
    configPath: async () => (await import('./config-of.js')).configOf(here),
    isConfirmed: async (question) => await (await import('./confirm.js')).isConfirmed(here, question),
    storeUrl: async (option) => (await import('./named-store.js')).storeOf(here, option),
  }
}

async function openings() {
  return await import('./with-app.js')
}
