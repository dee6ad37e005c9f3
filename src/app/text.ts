export { printable } from '../text/printable.js'
