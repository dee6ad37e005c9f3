import type { ProgramParts } from '../features/feature.js'
import { systemClock } from '../time/clock.js'

/** The parts of the program for commands of features; each is loaded on first use. */
export const programParts: ProgramParts = {
  openStore: async (url, options) => {
    const { openStore } = await import('./store/open-store.js')
    return await openStore(url, { ...options, clock: systemClock, durability: 'full' })
  },
  handlerExtensions: async () => {
    const { loadHandlerExtensions } = await import('./features.js')
    return await loadHandlerExtensions()
  },
  pipelineSteps: async (config) => {
    const { stepsOfConfig } = await import('./definitions/load-app.js')
    return await stepsOfConfig(config)
  },
}
