import { fault, shown, within, type Place } from '../definition/faults.js'
import type { HandlerSpec, HttpSpec, Isolation, ModuleSpec, ShellSpec } from './job.js'
import type { Json } from '../definition/json.js'
import { copyJson, payloadFault } from './payload.js'
import {
  isMap,
  readChoice,
  readFlag,
  readOptions,
  readWhole,
  type Written,
} from '../definition/read-value.js'
import {
  carriesPassword,
  isSecretHeader,
  isSecretVariable,
  readSecretRef,
  refuseLiteral,
  variableName,
  type SecretText,
} from '../definition/secret-text.js'

/** A command with its environment and directory. */
export interface CommandInput {
  /** The program and its arguments, one string each; no shell splits or expands them. @minItems 1 @maxItems 1000 */
  readonly argv: readonly string[]
  /** Added to the few variables that every command gets; a secret is written as `{ env: NAME }` or `{ file: path }`. */
  readonly env?: Readonly<Record<string, SecretText>> | undefined
  /** Allows literal secrets, which are then readable in the store; default: false. */
  readonly allowLiteralSecrets?: boolean | undefined
  /** The directory of the command; relative to the directory of the app. @minLength 1 */
  readonly cwd?: string | undefined
}

/** A request; an answer with a status of 400 or more is a failure. */
export interface HttpInput {
  /** An `http:` or `https:` address without user name and password. */
  readonly url: string
  /** Default: `POST` with a body, `GET` without one. */
  readonly method?: HttpMethod | undefined
  /** Sent with the request, and masked in every message; a secret is written as `{ env: NAME }` or `{ file: path }`. */
  readonly headers?: Readonly<Record<string, SecretText>> | undefined
  /** Allows literal secrets, which are then readable in the store; default: false. */
  readonly allowLiteralSecrets?: boolean | undefined
  /** Sent as JSON; default: the payload of the run, if the method has a body. */
  readonly body?: Json | undefined
}

/** A function that a module exports, so that another thread or process and a config file can refer to it. */
export interface ModuleInput {
  /** The path of the module, relative to the directory of the app. @minLength 1 */
  readonly module: string
  /** The name of the exported function; default: `default`. @minLength 1 */
  readonly export?: string | undefined
}

/** The methods a request may have. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** The options that define the action of a job. */
const ways = ['command', 'shell', 'http', 'pipeline', 'handler'] as const

/** The options of a job's action and its isolation. */
export const handlerOptionNames = [...ways, 'isolate', 'memoryMb'] as const

/** Reads the action of a job; exactly one must be given. */
export function readHandler(input: Written, place: Place): HandlerSpec | undefined {
  const isolate = readIsolation(input, place)
  const spec = readWay(input, place)
  if (spec === undefined || input['isolate'] === undefined) return spec
  if (spec.kind === 'module') return isolate === undefined ? undefined : { ...spec, isolate }
  const at = within(place, 'isolate')
  if (spec.kind !== 'function') return fault(at, `a ${spec.kind} job does not run in the worker process`)
  return fault(at, 'a function of this process cannot be called from another one', moduleAllowed)
}

function readWay(input: Written, place: Place): HandlerSpec | undefined {
  const chosen = ways.filter((name) => input[name] !== undefined)
  const [way, second] = chosen
  if (way === undefined) return fault(place, 'no action is defined', waysAllowed)
  if (second !== undefined) return fault(place, `${chosen.join(' and ')} cannot be combined`, waysAllowed)
  const at = within(place, way)
  switch (way) {
    case 'command':
      return readCommand(input['command'], at, `${argvAllowed}, or shell: with the text`)
    case 'shell':
      readText(input['shell'], at)
      return { kind: 'shell', argv: ['/bin/sh', '-c', String(input['shell'])] }
    case 'http':
      return readRequest(input['http'], at)
    case 'pipeline':
      readText(input['pipeline'], at)
      return { kind: 'pipeline', path: String(input['pipeline']) }
    case 'handler':
      return typeof input['handler'] === 'function' ? { kind: 'function' } : readModule(input['handler'], at)
  }
}

const waysAllowed = `exactly one of ${ways.join(', ')}`
const moduleAllowed = "a module that exports one, such as { module: './jobs/report.mjs' }"

function readModule(value: unknown, place: Place): ModuleSpec | undefined {
  if (!isMap(value)) {
    return fault(place, `${shown(value)} is not a function`, `a function in code, or ${moduleAllowed}`)
  }
  const input = readOptions(value, ['module', 'export'], place)
  if (input === undefined) return undefined
  const { module, export: name = 'default' } = input
  readText(module, within(place, 'module'))
  readText(name, within(place, 'export'))
  if (typeof module === 'string' && /^(?!file:)[a-z][a-z+.-]+:/i.test(module)) {
    fault(within(place, 'module'), `${shown(module)} is not a path`, 'a path such as ./jobs/report.mjs')
  }
  return { kind: 'module', module: String(module), export: String(name) }
}

const memoryBounds = { min: 16, max: 1_048_576 }
const defaultMemoryMb = 512

function readIsolation(input: Written, place: Place): Isolation | undefined {
  const kind = readChoice(input['isolate'], ['thread', 'process'], within(place, 'isolate'))
  const memoryMb = readWhole(input['memoryMb'], memoryBounds, within(place, 'memoryMb'))
  if (input['memoryMb'] !== undefined && input['isolate'] === undefined) {
    fault(within(place, 'memoryMb'), 'only isolated jobs have a memory limit', 'isolate beside it')
  }
  return kind === undefined ? undefined : { kind, memoryMb: memoryMb ?? defaultMemoryMb }
}

/** Variables for commands, by name; secrets are named, never written out. */
export function readVariables(value: unknown, place: Place): Readonly<Record<string, SecretText>> {
  return readTexts(value, place, { ...variables, takesLiterals: false })
}

/** Reads a command: a list of arguments, or a map with environment and directory. */
export function readCommand(value: unknown, place: Place, allowed = argvAllowed): ShellSpec | undefined {
  if (Array.isArray(value)) return { kind: 'shell', argv: readArgv(value, place) }
  if (typeof value === 'string') {
    return fault(place, `${shown(value)} is a single string, and no shell splits it`, allowed)
  }
  const input = readOptions(value, ['argv', 'env', 'cwd', 'allowLiteralSecrets'], place)
  if (input === undefined) return undefined
  const { argv, env, cwd } = input
  if (cwd !== undefined) readText(cwd, within(place, 'cwd'))
  const read = readArgv(argv, within(place, 'argv'))
  const rules = { ...variables, takesLiterals: takesLiterals(input, place) }
  const own = env === undefined ? {} : { env: readTexts(env, within(place, 'env'), rules) }
  return { kind: 'shell', argv: read, ...own, ...(cwd === undefined ? {} : { cwd: cwd as string }) }
}

const argvAllowed = 'a list of words such as ["node", "task.mjs"]'
const mostWords = 1000
/** The longest argument on Linux. */
const longestText = 131_071

function argvProblem(value: unknown): string {
  if (value === undefined) return 'it is missing'
  if (!Array.isArray(value)) return `${shown(value)} is not a list of words`
  return value.length === 0 ? 'the list is empty' : `it has ${value.length} words`
}

function readArgv(value: unknown, place: Place): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostWords) {
    fault(place, argvProblem(value), `${argvAllowed}, 1 to ${mostWords} of them`)
    return []
  }
  value.forEach((word, index) => readText(word, within(place, index), index === 0 ? 1 : 0))
  return value.map(String)
}

function readText(value: unknown, place: Place, shortest = 1): void {
  if (typeof value !== 'string') {
    fault(place, `${shown(value)} is not a text`, 'a text; write a number or true in quotes')
  } else if (value.length < shortest) fault(place, 'it is empty')
  else if (value.includes('\0')) fault(place, 'it contains a zero byte')
  else if (Buffer.byteLength(value) > longestText)
    fault(place, 'it is too long', `at most ${longestText} bytes`)
}

function takesLiterals(input: Written, place: Place): boolean {
  return readFlag(input['allowLiteralSecrets'], within(place, 'allowLiteralSecrets')) ?? false
}

/** The rules for a map of texts. */
interface TextRules {
  readonly option: 'env' | 'headers'
  readonly nameFault: (name: string, text: unknown) => string | undefined
  readonly isSecret: (name: string) => boolean
  /** How a secret is written. */
  readonly example: string
  readonly takesLiterals: boolean
}

/** Reads a map from names to texts or references to texts. */
function readTexts(value: unknown, place: Place, rules: TextRules): Readonly<Record<string, SecretText>> {
  if (!isMap(value)) {
    fault(place, `a map of texts was expected, not ${shown(value)}`)
    return {}
  }
  for (const [name, text] of Object.entries(value)) {
    const at = within(place, name)
    const problem = rules.nameFault(name, text)
    if (problem !== undefined) fault(at, problem)
    else if (isMap(text)) readSecretRef(text, at)
    else if (text !== '' && !rules.takesLiterals && (rules.isSecret(name) || carriesPassword(text)))
      refuseLiteral(at, rules.example, rules.option)
    else readText(text, at, 0)
  }
  return { ...value } as Record<string, SecretText>
}

const variables: Omit<TextRules, 'takesLiterals'> = {
  option: 'env',
  nameFault: variableFault,
  isSecret: isSecretVariable,
  example: '{ env: NAME } or { file: path }',
}

const headers: Omit<TextRules, 'takesLiterals'> = {
  option: 'headers',
  nameFault: headerFault,
  isSecret: isSecretHeader,
  example: '{ env: NAME } or { file: path }, with prefix: "Bearer " where it needs one',
}

function variableFault(name: string): string | undefined {
  if (!variableName.test(name)) return 'it is not the name of a variable'
  return name.startsWith('ROTA_') ? 'names that begin with ROTA_ are set by Rota' : undefined
}

const methods: readonly HttpMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Reads a request. */
export function readRequest(value: unknown, place: Place): HttpSpec | undefined {
  const input = readOptions(value, ['url', 'method', 'headers', 'body', 'allowLiteralSecrets'], place)
  if (input === undefined) return undefined
  const url = readUrl(input['url'], within(place, 'url'))
  const body = readBody(input['body'], within(place, 'body'))
  const written = readChoice(input['method'], methods, within(place, 'method'))
  const method = written ?? (body === undefined ? 'GET' : 'POST')
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    fault(within(place, 'body'), `a ${method} request has no body`, 'a method such as POST, or no body')
  }
  const rules = { ...headers, takesLiterals: takesLiterals(input, place) }
  const extra =
    input['headers'] === undefined
      ? {}
      : { headers: readTexts(input['headers'], within(place, 'headers'), rules) }
  return { kind: 'http', url: url ?? '', method, ...extra, ...(body === undefined ? {} : { body }) }
}

const urlAllowed = 'an address such as https://example.org/hook'

function readUrl(value: unknown, place: Place): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value))
    return fault(place, `${shown(value)} is not an address`, urlAllowed)
  const url = new URL(value)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return fault(place, `${url.protocol} is not supported`, 'http: or https:')
  }
  // URLs appear in logs and lists, and so would a password in them. It is not repeated here either.
  if (url.username !== '' || url.password !== '') {
    return fault(place, 'the address contains a user name or password', 'an authorization header instead')
  }
  return value
}

function readBody(value: unknown, place: Place): Json | undefined {
  const problem = payloadFault(value)
  return problem === undefined ? copyJson(value) : fault(place, problem.message, problem.allowed)
}

const ownHeaders: readonly string[] = ['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade']

function headerFault(name: string, text: unknown): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'it is not the name of a header'
  if (ownHeaders.includes(name.toLowerCase())) return 'this header is set by Rota'
  // Other characters could end the header and begin another.
  if (typeof text === 'string' && !/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    return 'its text cannot be sent in a header'
  return undefined
}
