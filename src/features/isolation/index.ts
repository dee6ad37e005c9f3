export { feature as isolation } from './feature.js'
