export { formatDuration, parseDuration } from '../time/duration.js'
