import type { ReadDefinitionFiles } from '../../engine/sync/definition-files.js'
import { notePlans, vanishedPlans } from './named-plans.js'
import { planSources, syncPlans } from './triggers.js'

/** Reads the plans that an app names. */
export const readPlanFiles: ReadDefinitionFiles = async ({ paths, source, directory, jobs, now: readAt }) => {
  const plans = await planSources(paths, { directory, jobs, now: readAt })
  return {
    pipelines: plans.flatMap((plan) => plan.pipelines),
    vanished: async (store) => await vanishedPlans(store, { source, plans }),
    sync: async (store, now) => {
      const ended = await notePlans(store, { source, plans, now })
      return [{ defined: [], changed: [], ended, unchanged: 0 }, ...(await syncPlans(store, plans, now))]
    },
  }
}
