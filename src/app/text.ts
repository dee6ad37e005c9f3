export { printable } from '../model/printable.js'
