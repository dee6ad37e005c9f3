import type { Arguments } from './arguments.js'
import { quotedText } from '../../text/error-text.js'
import type { Syntax } from './syntax.js'
import { faultText, RotaError } from '../../kernel/definition/errors.js'
import { TimeError } from '../../time/time-error.js'

/** What the text of an option or argument means; a refusal names it, as `--at` or `<expression>`. */
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

/** An error of the library in the words of the command line: options instead of keys, and the option that held a value. */
export function withOptionOf(error: unknown, { options = [] }: Syntax, args: Arguments): unknown {
  if (!(error instanceof RotaError)) return error
  if (error.faults.length > 0) {
    const given = options.map(({ name }) => name).filter((name) => args.flag(name))
    return renamed(error, Object.fromEntries(given.map((name) => [keyOf(name), `--${name}`])))
  }
  const { message } = error
  const holders = options.filter(({ name, value, whole, choices }) => {
    const isText = value !== undefined && whole === undefined && choices === undefined
    return isText && !message.includes(`--${name}`) && args.list(name).some((text) => isQuoted(message, text))
  })
  const [holder, other] = holders
  return holder === undefined || other !== undefined ? error : named(`--${holder.name}`, error)
}

/** How the library spells the same: `uniqueFor` for `unique-for`. */
function keyOf(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether a message has a value as a word of its own. */
function isQuoted(message: string, value: string): boolean {
  if (message.includes(quotedText(value))) return true
  const at = value.length < 2 ? -1 : message.indexOf(value)
  return at !== -1 && !/[\w/]/.test(`${message[at - 1] ?? ''}${message[at + value.length] ?? ''}`)
}

/** From the keys of the library to what was typed on the command line; a key also stands for all below it. */
export type OptionNames = Readonly<Record<string, string>>

/** Does something with what was typed; faults of the library's keys become faults of the options. */
export async function withOptionNames<Value>(names: OptionNames, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof RotaError ? renamed(error, names) : error
  }
}

function renamed(error: RotaError, names: OptionNames): RotaError {
  const faults = error.faults.map((fault) => ({ ...fault, path: nameOf(fault.path, names) ?? fault.path }))
  const isSame = faults.every(({ path }, index) => path === error.faults[index]?.path)
  if (isSame) return error
  // A job and a trigger of one name have the same fault in it.
  const texts = [...new Set(faults.map(faultText))]
  const once = texts.flatMap((text) => faults.find((fault) => faultText(fault) === text) ?? [])
  const [only, ...others] = texts
  const message = only === undefined || others.length > 0 ? `${texts.length} faults` : only
  return new RotaError(error.code, message, { faults: once, cause: error })
}

function nameOf(path: string, names: OptionNames): string | undefined {
  const keys = Object.keys(names).filter(
    (key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`),
  )
  const longest = keys.toSorted((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : names[longest]
}
