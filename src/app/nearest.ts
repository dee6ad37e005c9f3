export { nearest } from '../model/read-value.js'
