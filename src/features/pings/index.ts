export { feature as pings } from './feature.js'
export type { SchedulerPing } from './config.js'
