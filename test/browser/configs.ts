import { hasFeatures } from '../features.js'

/** A config with a failing job, a slow job, and triggers in two zones. */
export const busyConfig = `
jobs:
  greet: { command: [echo, hello] }
  broken: { command: [sh, -c, 'echo cannot connect >&2; exit 7'] }
  slow: { command: [sleep, '120'] }
triggers:
  every-minute: { job: greet, cron: '* * * * *', timezone: Europe/Berlin }
  nightly: { job: greet, cron: '0 2 * * *', timezone: America/New_York }
`

const long = 'a-name-that-goes-on-and-on-until-nobody-wants-to-read-it-any-more'

/** The same with long names, right-to-left text, and an entry on the page of every feature. */
export const longConfig = `${busyConfig.replace(
  'triggers:',
  `  ${long}: { command: [sh, -c, 'echo "שלום עולם: החיבור נדחה" >&2; exit 7'], queue: ${long} }
triggers:
  ${long}: { job: ${long}, every: 2s }`,
)}
queues:
  ${long}: { concurrency: 2 }
${hasFeatures('rounds') ? `rounds:\n  ${long}-round: { every: 20s, services: [greet, ${long}] }` : ''}
${hasFeatures('sensors') ? `sensors:\n  ${long}-sensor: { type: files, glob: 'incoming/*.csv', every: 5s, job: greet }` : ''}
${hasFeatures('assets') ? `assets:\n  ${long}-asset: { partitions: { kind: daily, start: 2026-01-01 }, command: [echo, made] }` : ''}
`
