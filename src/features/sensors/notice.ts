import type { FeatureNotices } from '../feature-notices.js'
import { pick } from '../../wire/to-json.js'
import { count } from '../../cli/framework/print/words.js'
import { roughly } from '../../cli/framework/print/time-text.js'

const events: FeatureNotices['events'] = {
  'sensor:polled': (polled) => {
    const { sensor, observations, fresh } = polled
    // Most polls find nothing, and `rota sensor history` has them all.
    if (fresh === 0) return []
    const text = `found ${fresh === observations ? fresh : `${fresh} new of ${observations}`}`
    const data = pick(polled, ['sensor', 'kind', 'observations', 'fresh', 'reason', 'lagMs'])
    return [{ symbol: '◉', subject: sensor, text, data }]
  },
  'sensor:failed': ({ sensor, reason, failures, retryInMs }) => {
    const times = failures > 1 ? ` (${count(failures, 'time')} in a row)` : ''
    const text = `poll failed${times}: ${reason}; again in ${roughly(retryInMs)}`
    return [{ level: 'warn', subject: sensor, text }]
  },
  'sensor:recovered': ({ sensor, failures }) => {
    const text = `poll succeeded after ${count(failures, 'failure')}`
    return [{ symbol: '✓', subject: sensor, text }]
  },
  'sensor:paused': ({ sensor, failures, reason }) => {
    const text = `paused after ${count(failures, 'failure')} in a row: ${reason}; \`rota sensor resume ${sensor}\` resumes it`
    return [{ level: 'error', subject: sensor, text }]
  },
  'sensor:stuck': ({ sensor }) => {
    const text = 'its poll continues after its signal aborted; there is no other poll until it ends'
    return [{ level: 'warn', subject: sensor, text }]
  },
}

/** What `rota up` prints about sensors. */
export const sensorNotices: FeatureNotices = { events }
