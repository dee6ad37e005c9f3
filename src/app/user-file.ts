export { refusedKind, readUserFile } from '../input/user-file.js'
