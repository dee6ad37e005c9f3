import type { Arguments } from './arguments.js'
import { quotedText } from '../../text/error-text.js'
import type { Syntax } from './syntax.js'
import { faultText, RotaError } from '../../kernel/definition/errors.js'
import { TimeError } from '../../time/time-error.js'

/** Reads the text of an option or argument; an error names it, such as `--at` or `<expression>`. */
export function readAs<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw named(name, error)
  }
}

function named(name: string, error: unknown): unknown {
  if (error instanceof TimeError) {
    const { code, message, allowed } = error
    const faults = [{ path: name, message, allowed }]
    return new RotaError(code, `${name}: ${message}`, { faults, cause: error })
  }
  if (!(error instanceof RotaError) || error.faults.length > 0) return error
  return new RotaError(error.code, `${name}: ${error.message}`, { cause: error })
}

/** Translates an error of the library for the command line: with options instead of keys. */
export function withOptionOf(error: unknown, command: Syntax, args: Arguments): unknown {
  if (!(error instanceof RotaError)) return error
  if (error.faults.length > 0) return ofFiles.has(error.code) ? error : renamed(error, namesByKey(command))
  const { message } = error
  const holders = (command.options ?? []).filter(({ name, value, whole, choices }) => {
    const isText = value !== undefined && whole === undefined && choices === undefined
    return isText && !message.includes(`--${name}`) && args.list(name).some((text) => isQuoted(message, text))
  })
  const [holder, other] = holders
  return holder === undefined || other !== undefined ? error : named(`--${holder.name}`, error)
}

/** The faults of a file name places in it, not options. */
const ofFiles: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  'PLAN_INVALID',
  'PIPELINE_INVALID',
  'JOBS_INVALID',
])

/** Maps keys of the library to options and arguments; a key includes all keys below it. */
function namesByKey({ arguments: words = [], options = [], rest }: Syntax): ReadonlyMap<string, string> {
  const after = rest === undefined ? [] : rest.split(' ').slice(0, 1)
  return new Map([
    ...after.map((name) => [name, `-- ${name}`] as const),
    ...words.map(({ name }) => [name, `<${name}>`] as const),
    ...options.map(({ name, key = keyOf(name) }) => [key, `--${name}`] as const),
  ])
}

/** The key of an option in the library: `uniqueFor` for `unique-for`. */
function keyOf(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether a message contains a value as a separate word. */
function isQuoted(message: string, value: string): boolean {
  if (message.includes(quotedText(value))) return true
  const at = value.length < 2 ? -1 : message.indexOf(value)
  return at !== -1 && !/[\w/]/.test(`${message[at - 1] ?? ''}${message[at + value.length] ?? ''}`)
}

function renamed(error: RotaError, names: ReadonlyMap<string, string>): RotaError {
  const faults = error.faults.map((fault) => ({ ...fault, path: nameOf(fault.path, names) ?? fault.path }))
  const isSame = faults.every(({ path }, index) => path === error.faults[index]?.path)
  if (isSame) return error
  // A job and a trigger with the same name have the same fault.
  const texts = [...new Set(faults.map(faultText))]
  const once = texts.flatMap((text) => faults.find((fault) => faultText(fault) === text) ?? [])
  const [only, ...others] = texts
  const message = only === undefined || others.length > 0 ? `${texts.length} faults` : only
  return new RotaError(error.code, message, { faults: once, cause: error })
}

function nameOf(path: string, names: ReadonlyMap<string, string>): string | undefined {
  const keys = [...names.keys()].filter(
    (key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`),
  )
  const longest = keys.toSorted((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : names.get(longest)
}
