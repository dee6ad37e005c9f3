import type { NoticeText } from '../../cli/framework/print/notice.js'
import type { FeatureNotices } from '../feature-notices.js'
import { count } from '../../cli/framework/print/words.js'
import { roughly } from '../../cli/framework/print/time-text.js'

const events: FeatureNotices['events'] = {
  'sensor:polled': ({ sensor, kind, observations, fresh, reason, lagMs }) => {
    // Most polls find nothing, and `rota sensor history` has them all.
    if (fresh === 0) return []
    const data = { sensor, kind, observations, fresh, reason: reason ?? null, lagMs }
    const text = `found ${fresh === observations ? fresh : `${fresh} new of ${observations}`}`
    return [{ level: 'info', symbol: '◉', subject: sensor, text, data }]
  },
  'sensor:failed': ({ sensor, reason, failures, broken, retryInMs }) => {
    const times = failures > 1 ? ` (${count(failures, 'time')} in a row)` : ''
    const text = `poll failed${times}: ${reason}; again in ${roughly(retryInMs)}`
    return [warning(sensor, text, { sensor, reason, failures, broken, retryInMs })]
  },
  'sensor:recovered': ({ sensor, failures }) => {
    const text = `polls again with success after ${count(failures, 'failure')}`
    return [{ level: 'info', symbol: '✓', subject: sensor, text, data: { sensor, failures } }]
  },
  'sensor:paused': ({ sensor, failures, reason }) => {
    const text = `paused after ${count(failures, 'failure')} in a row: ${reason}; \`rota sensor resume ${sensor}\` lets it go on`
    return [{ ...warning(sensor, text, { sensor, failures, reason }), level: 'error' }]
  },
  'sensor:stuck': ({ sensor, afterMs }) => [
    warning(sensor, 'its poll goes on although it was told to stop; it is not polled beside itself', {
      sensor,
      afterMs,
    }),
  ],
}

function warning(subject: string, text: string, data: NoticeText['data']): NoticeText {
  return { level: 'warn', symbol: '!', subject, text, data }
}

/** What `rota up` prints of sensors. */
export const sensorNotices: FeatureNotices = { events }
