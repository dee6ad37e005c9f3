import { createRequire } from 'node:module'
import { parseCron } from '../../time/cron/parse.js'

/** Describes a cron expression in English, with times on a 24-hour clock; throws for an invalid one. */
export function describe(expression: string): string {
  const { isEitherDay } = parseCron(expression)
  // An import would first search the whole package for its exports, which would slow down the command line.
  const library = createRequire(import.meta.url)('cronstrue') as CronInWords
  const say = (text: string): string => library.toString(text, { use24HourTimeFormat: true })
  try {
    return isEitherDay ? eitherDay(fieldsOf(expression), say) : inWords(fieldsOf(expression), say)
  } catch {
    // An expression that the library cannot describe is shown unchanged.
    return expression
  }
}

interface CronInWords {
  toString(expression: string, options: { readonly use24HourTimeFormat: boolean }): string
}

type Say = (expression: string) => string

/** An expression, split at its day fields; a nickname is completely in `before`. */
interface Fields {
  readonly before: string
  readonly date: string
  readonly month: string
  readonly weekday: string
  readonly year: string
}

function fieldsOf(expression: string): Fields {
  const texts = expression.trim().split(/\s+/)
  if (texts.length < 5) return { before: expression, date: '', month: '', weekday: '', year: '' }
  const first = texts.length === 5 ? 2 : 3
  const [date = '', month = '', weekday = '', year = ''] = texts.slice(first)
  return { before: texts.slice(0, first).join(' '), date, month, weekday, year }
}

/** Describes an expression in forms that the library knows. */
function inWords(fields: Fields, say: Say): string {
  const { before, date, month, year } = fields
  const weekday = fields.weekday.replaceAll(/#L/gi, 'L')
  const nearest = /^(L-\d+)W$/i.exec(date)?.[1]
  const words = say([before, nearest ?? date, month, weekday, year].join(' ').trim())
  return nearest === undefined ? words : words.replace(/\d+ days? before/, 'on the weekday nearest to $&')
}

/** A day that matches either day field counts; the library says "and" or a comma, so each field is described alone. */
function eitherDay(fields: Fields, say: Say): string {
  const time = inWords({ ...fields, date: '*', month: '*', weekday: '*', year: '' }, say)
  const rest = inWords({ ...fields, date: '*', weekday: '*' }, say).slice(time.length)
  const days = [
    { ...fields, weekday: '*' },
    { ...fields, date: '*' },
  ].map((one) => {
    const words = inWords(one, say)
    return words.slice(time.length, words.length - rest.length).replace(/^, (only )?/, '')
  })
  return `${time}, ${days.join(' or ')}${rest}`
}
