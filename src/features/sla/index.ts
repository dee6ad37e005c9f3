export { feature as sla } from './feature.js'
