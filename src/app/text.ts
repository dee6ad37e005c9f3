export { printable } from '../handlers/printable.js'
export { nearest } from '../model/read-value.js'
