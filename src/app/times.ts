export { systemClock } from '../time/clock.js'
export { formatInstant, type Instant } from '../time/instant.js'
export { formatLocal } from '../time/local-time.js'
export { type Zone, zoneOf } from '../time/zone.js'
