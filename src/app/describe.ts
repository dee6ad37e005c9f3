import { createRequire } from 'node:module'
import { parseCron } from '../time/cron.js'

/** Puts a cron expression into English words, with times on a 24-hour clock; refuses what is not one. */
export function describe(expression: string): string {
  parseCron(expression)
  // An import would first search the whole package for the names it exports, which a command line would feel.
  const words = createRequire(import.meta.url)('cronstrue') as CronInWords
  try {
    return words.toString(expression, { use24HourTimeFormat: true })
  } catch {
    // What has no words speaks for itself.
    return expression
  }
}

interface CronInWords {
  toString(expression: string, options: { readonly use24HourTimeFormat: boolean }): string
}
