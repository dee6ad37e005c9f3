/** A store with something of everything: a failure, a retry, a long run, a schedule with a zone. */
export const busyConfig = `
jobs:
  greet: { command: [echo, hello] }
  broken: { command: [sh, -c, 'echo cannot connect >&2; exit 7'] }
  slow: { command: [sleep, '120'] }
triggers:
  every-minute: { job: greet, cron: '* * * * *', timezone: Europe/Berlin }
  nightly: { job: greet, cron: '0 2 * * *', timezone: America/New_York }
`
