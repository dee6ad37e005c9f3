export { errorText, listedLines, namedText, quotedText } from '../text/error-text.js'
export { printable } from '../text/printable.js'
