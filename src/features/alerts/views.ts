import type { AlertTest } from './api.js'
import type { AlertStatus } from './status.js'

/** The state of alerts, as `--json` and the API show it. */
export function statusView({ channels, rules, subjects }: AlertStatus) {
  return {
    channels: channels.map(({ lastSentAt = null, lastFailure = null, ...rest }) => ({
      ...rest,
      lastSentAt,
      lastFailure,
    })),
    rules,
    subjects: subjects.map(({ sendAt = null, quietUntil = null, ...rest }) => ({
      ...rest,
      sendAt,
      quietUntil,
    })),
  }
}

/** The results of test messages, as `--json` and the API show them. */
export function testView(tests: readonly AlertTest[]) {
  return tests.map(({ isSent, ...rest }) => ({ ...rest, sent: isSent }))
}
