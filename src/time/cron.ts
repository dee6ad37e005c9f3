export { type DstPolicy, dstPolicies } from './cron/dst.js'
export { type ClockChangeNote, clockChangeNotes, explainOccurrence } from './cron/explain.js'
export { parseCron } from './cron/parse.js'
export { assertFires, cronSchedule } from './cron/schedule.js'
