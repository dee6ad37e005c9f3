export { exactIntegers, roundedInteger, roundedMessage } from '../model/exact-integer.js'
