export { printable } from '../handlers/printable.js'
