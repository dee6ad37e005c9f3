import type { z } from 'zod'
import type { Fault } from '../kernel/definition/errors.js'
import { nearest } from '../kernel/definition/read-value.js'
import { errorPart } from '../text/error-text.js'

type Issue = z.core.$ZodIssue

/** Converts a fault of a schema to Rota's form: what is wrong, and what is allowed. */
export function issueFault(
  issue: Issue,
  { place, known }: { place: string; known: readonly string[] },
): Fault {
  const path = [place, ...issue.path.map(String)].join('/')
  const isTop = issue.path.length === 0
  return { path, ...faultOf(issue, isTop ? known : []) }
}

function faultOf(issue: Issue, known: readonly string[]): Omit<Fault, 'path'> {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? { message: 'it is missing', allowed: typeName(issue.expected) }
        : { message: `it is not ${typeName(issue.expected)}` }
    case 'too_small':
    case 'too_big':
      return { message: sizeText(issue) }
    case 'invalid_value':
      return { message: 'it is not one of the values', allowed: issue.values.map(String).join(', ') }
    case 'unrecognized_keys':
      return unknownKeys(issue.keys, known)
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
      return { message: errorPart(issue.message) }
  }
}

function sizeText(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const isSmall = issue.code === 'too_small'
  const bound = String(isSmall ? issue.minimum : issue.maximum)
  const unit = units[issue.origin]
  if (unit !== undefined) return `it has ${isSmall ? 'fewer' : 'more'} than ${bound} ${unit}`
  const isIncluded = issue.inclusive !== false
  if (isSmall) return isIncluded ? `it is less than ${bound}` : `it is not more than ${bound}`
  return isIncluded ? `it is more than ${bound}` : `it is not less than ${bound}`
}

const units: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  set: 'entries',
  map: 'entries',
  object: 'entries',
}

function unknownKeys(keys: readonly string[], known: readonly string[]): Omit<Fault, 'path'> {
  const texts = keys.map((key) => {
    const meant = nearest(key, known)
    return `${JSON.stringify(errorPart(key))} is not known${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  })
  const message = texts.join('; ')
  return known.length === 0 ? { message } : { message, allowed: known.join(', ') }
}

function typeName(expected: string): string {
  return typeNames[expected] ?? expected
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}
