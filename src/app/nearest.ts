export { didYouMean, nearest } from '../model/read-value.js'
