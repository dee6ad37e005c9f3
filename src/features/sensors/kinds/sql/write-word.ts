/** The first word of a statement that writes, such as `DELETE`; undefined for any other. */
export function writeAtStart(sql: string): string | undefined {
  return /^[\s(]*(insert|update|delete|merge|replace|truncate|create|alter|drop)\b/i
    .exec(withoutTexts(sql))?.[1]
    ?.toUpperCase()
}

/**
 * Adds to the error of a database that the query writes. Searches for a write only after an error: what
 * looks like one may be in a string literal of an unknown form.
 */
export function nameWrite(sql: string, refusal: string): string {
  const found = /\b(insert\s+into|delete\s+from|merge\s+into|update\s+\S+\s+set)\b/i.exec(
    withoutTexts(sql),
  )?.[1]
  const word = found?.replace(/\s.*/s, '').toUpperCase()
  return word === undefined ? refusal : `${word} writes, and a sensor only reads: ${refusal}`
}

/** The statement without string literals and comments. */
function withoutTexts(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\//gs, ' ')
}
