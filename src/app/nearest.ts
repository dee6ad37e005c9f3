export { nearest, noneNamed } from '../model/read-value.js'
