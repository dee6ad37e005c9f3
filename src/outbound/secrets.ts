import { isUtf8 } from 'node:buffer'
import { resolve } from 'node:path'
import { readUserFile } from '../formats/user-file.js'
import { RotaError } from '../kernel/definition/errors.js'
import { isSecretHeader, type SecretRef, type SecretText } from '../kernel/definition/secret-text.js'

/** Where secrets are read from: the environment and the directory of the process that performs the work. */
export interface SecretPlaces {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The base of relative paths; default: the working directory. */
  readonly directory?: string | undefined
}

/** Resolved texts, and the secrets in them that must not be shown. */
export interface ResolvedTexts {
  readonly texts: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/** Resolves references to variables and files; throws if one is missing. */
export async function resolveTexts(
  written: Readonly<Record<string, SecretText>> | undefined,
  places: SecretPlaces,
): Promise<ResolvedTexts> {
  const texts: Record<string, string> = {}
  const secrets: string[] = []
  for (const [name, text] of Object.entries(written ?? {})) {
    if (typeof text === 'string') {
      texts[name] = text
      continue
    }
    const found = await resolveSecret(text, places).catch((error: unknown) => {
      throw error instanceof RotaError ? new RotaError(error.code, `${name}: ${error.message}`) : error
    })
    texts[name] = (text.prefix ?? '') + found
    secrets.push(...partsOf(found))
  }
  return { texts, secrets }
}

/** The text of a reference, without its prefix. */
export async function resolveSecret(ref: SecretRef, places: SecretPlaces): Promise<string> {
  if (ref.env === undefined) return await contentOf(ref.file, places)
  const found = places.environment[ref.env]
  if (found !== undefined && found !== '') return found
  throw missing(`the variable ${ref.env} is ${found === undefined ? 'not set' : 'empty'} in this process`)
}

const largestSecret = 131_071

async function contentOf(file: string, { directory }: SecretPlaces): Promise<string> {
  const path = directory === undefined ? resolve(file) : resolve(directory, file)
  const found = await readUserFile(path, largestSecret)
  if (found.kind !== 'read') throw missing(`the secret in ${path} cannot be read: ${found.why}`)
  // Editors and `echo` end a file with a line feed, which is not part of the secret.
  const text = isUtf8(found.bytes) ? found.bytes.toString('utf8').replace(/\r?\n$/, '') : ''
  if (text === '' || text.includes('\0')) throw missing(`${path} does not contain text`)
  return text
}

function missing(why: string): RotaError {
  return new RotaError('SECRET_MISSING', why)
}

/** A secret of several lines may be printed line by line. */
function partsOf(secret: string): readonly string[] {
  return secret.includes('\n')
    ? [secret, ...secret.split(/\r?\n/).filter((line) => line.length > 8)]
    : [secret]
}

const shortestSecret = 4

/** The secrets among the headers of a request. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => [value, value.slice(value.indexOf(' ') + 1)])
}

/** Masks secrets in a text: an answer or a command may repeat its input. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.trim().length >= shortestSecret)
    .reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}
