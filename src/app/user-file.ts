export { readUserFile } from '../input/user-file.js'
