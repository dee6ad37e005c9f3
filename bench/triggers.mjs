// A hundred thousand triggers, no two of which are due at the same times, and none of them soon.
const zones = ['UTC', 'Europe/Berlin', 'America/New_York']

/** Defines `count` distinct triggers of a job. */
export function defineTriggers(app, job, count) {
  // Half a year away, so that none becomes due during a measurement.
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1
  for (let i = 0; i < count; i += 1) {
    const minute = i % 60
    const hour = Math.floor(i / 60) % 24
    const day = 1 + (Math.floor(i / 1440) % 28)
    const timezone = zones[Math.floor(i / 40_320) % zones.length]
    app.schedule(`trigger-${i}`, { job, cron: `${minute} ${hour} ${day} ${month} *`, timezone })
  }
}
