import { fault, shown, within, type Place } from './faults.js'
import { readOptions, type Written } from './read-value.js'

/** A reference to a text: in a variable of the process that performs the work, or in a file that it can read. */
export type SecretRef = (
  | { readonly env: string; readonly file?: undefined }
  | { readonly file: string; readonly env?: undefined }
) & {
  /** Added before the text, such as `Bearer `. @maxLength 256 */
  readonly prefix?: string | undefined
}

/** A text, or a reference to one. */
export type SecretText = string | SecretRef

/** Whether the text of a header is likely to be a secret. */
export function isSecretHeader(name: string): boolean {
  // The idempotency key of a run is not secret, although its name contains "key".
  return name.toLowerCase() !== 'idempotency-key' && secretWords.test(name)
}

const secretWords = /auth|cookie|token|secret|passw|credential|signature|key/i

/** Whether the text of a variable is likely to be a secret, judged by the end of its name. */
export function isSecretVariable(name: string): boolean {
  return secretEnding.test(name)
}

const secretEnding =
  /(?:^|_)(?:token|secret|(?:[a-z0-9]*)password|pass|passwd|passphrase|credentials?|(?:api|access|private|secret|auth)_?key)$|_pwd$/i

/** Whether a text is a URL with a password, such as `postgres://me:secret@host/db`. */
export function carriesPassword(text: unknown): boolean {
  return typeof text === 'string' && URL.canParse(text) && new URL(text).password !== ''
}

/** Records a fault for a literal secret; the message shows what to write instead. */
export function refuseLiteral(place: Place, example: string, beside: 'env' | 'headers'): void {
  const instead = `${example}, which the process that performs it resolves`
  fault(
    place,
    'a secret does not belong in a definition',
    `${instead}; allowLiteralSecrets: true beside ${beside} allows it`,
  )
}

/** Reads a reference to a text. */
export function readSecretRef(value: Written, place: Place): SecretRef | undefined {
  const before = place.faults.length
  const { env, file, prefix } = readOptions(value, ['env', 'file', 'prefix'], place) ?? {}
  if ((env === undefined) === (file === undefined)) {
    return fault(place, 'it does not name a variable or a file', refAllowed)
  }
  if (env !== undefined && !(typeof env === 'string' && variableName.test(env)))
    fault(within(place, 'env'), `${shown(env)} is not the name of a variable`, 'such as API_TOKEN')
  if (file !== undefined && !(typeof file === 'string' && file !== '' && !file.includes('\0')))
    fault(within(place, 'file'), `${shown(file)} is not a path`, 'such as secrets/api-token')
  if (prefix !== undefined && !(typeof prefix === 'string' && /^[\t\x20-\x7e]{0,256}$/.test(prefix)))
    fault(within(place, 'prefix'), `${shown(prefix)} is not a prefix`, 'a text of at most 256 characters')
  return place.faults.length > before ? undefined : (value as SecretRef)
}

const refAllowed = 'exactly one of env (a variable) and file (a path); prefix is added before it'

/** The names that a variable may have. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/
