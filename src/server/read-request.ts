/** Reads the query and the body of a request within limits, and checks them. */
import type { z } from 'zod'
import type { Fault } from '../kernel/definition/errors.js'
import { errorPart } from '../text/error-text.js'
import type { Shape } from '../wire/route.js'
import { issueFault } from './issue-fault.js'
import { Refusal } from './problem.js'

/** The most bytes of a body: a payload may have 256 KiB, a definition several of them. */
export const mostBytes = 1024 * 1024

/** Deeper values are neither definitions nor payloads, and could overflow the stack of their readers. */
const mostDepth = 64

/** The JSON body of a request; undefined if it has none. */
export async function readBody(request: Request): Promise<unknown> {
  const text = await readText(request)
  if (text === '') return undefined
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Refusal('MEDIA_TYPE', `the content type ${quoted(type)} is not application/json`)
  }
  const value = parse(text)
  checkTree(value)
  return value
}

async function readText(request: Request): Promise<string> {
  const { body } = request
  if (body === null) return ''
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw new Refusal('MEDIA_TYPE', `a body with the encoding ${quoted(encoding)} cannot be read`)
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [text, bytes] = ['', 0]
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > mostBytes) throw tooLarge()
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof Refusal) throw error
    const message = bytes === 0 && request.bodyUsed ? usedBody : 'the body could not be read, or is not UTF-8'
    throw new Refusal('REQUEST_MALFORMED', message)
  }
}

/** The rest of the body is not read, so the connection must be closed, and the caller must know that. */
function tooLarge(): Refusal {
  const headers = { connection: 'close' }
  return new Refusal('REQUEST_TOO_LARGE', `the body has more than ${mostBytes} bytes`, { headers })
}

const usedBody =
  'the body was already read, for example by a body parser; mount the handler before the parser, or pass on the raw body'

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal('REQUEST_MALFORMED', `the body is not JSON: ${errorPart((error as Error).message)}`)
  }
}

/** Refuses values that are too deep, and keys with a meaning in JavaScript. */
function checkTree(root: unknown): void {
  let level: readonly unknown[] = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostDepth) throw invalid([{ path: '', message: `it is nested more than ${mostDepth} deep` }])
    const objects = level.filter((value): value is object => typeof value === 'object' && value !== null)
    if (objects.some((value) => Object.hasOwn(value, '__proto__'))) {
      throw invalid([{ path: '', message: 'the key "__proto__" is not allowed' }])
    }
    level = objects.flatMap((value) => Object.values(value) as unknown[])
  }
}

/** The query of a request as an object of texts; a repeated key becomes a list. */
export function queryOf(search: URLSearchParams): Readonly<Record<string, string | readonly string[]>> {
  const keys = [...new Set(search.keys())]
  return Object.fromEntries(
    keys.map((key) => {
      const values = search.getAll(key)
      return [key, values.length === 1 ? (values[0] as string) : values]
    }),
  )
}

/** Parses a value with a shape; reports every fault with its place. */
export function readAs<Given extends Shape>(shape: Given, value: unknown, place: string): z.output<Given> {
  const read = shape.safeParse(value, { reportInput: true })
  if (read.success) return read.data
  const known = Object.keys(shape.shape)
  throw invalid(read.error.issues.slice(0, mostFaults).map((issue) => issueFault(issue, { place, known })))
}

const mostFaults = 20

function invalid(faults: readonly Fault[]): Refusal {
  const list = faults.map(
    ({ path, message, allowed }) =>
      `${path === '' ? 'the body' : path}: ${message}${allowed === undefined ? '' : ` (allowed: ${allowed})`}`,
  )
  return new Refusal('REQUEST_INVALID', `the request is not valid: ${list.join('; ')}`, { faults })
}

function quoted(text: string): string {
  return JSON.stringify(errorPart(text))
}
