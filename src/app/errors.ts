export { faultText, RotaError, type ErrorCode, type Fault } from '../model/errors.js'
export { TimeError } from '../time/time-error.js'
