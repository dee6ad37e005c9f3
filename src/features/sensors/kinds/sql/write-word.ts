/** The word of a statement that begins with a write, such as `DELETE`; undefined for anything else. */
export function writeAtStart(sql: string): string | undefined {
  return /^[\s(]*(insert|update|delete|merge|replace|truncate|create|alter|drop)\b/i
    .exec(withoutTexts(sql))?.[1]
    ?.toUpperCase()
}

/**
 * Why a database refused a query, where the reason is that it writes. Looks for the write only after the refusal: what
 * looks like one may stand in a text of a kind that is not known here.
 */
export function nameWrite(sql: string, refusal: string): string {
  const found = /\b(insert\s+into|delete\s+from|merge\s+into|update\s+\S+\s+set)\b/i.exec(
    withoutTexts(sql),
  )?.[1]
  const word = found?.replace(/\s.*/s, '').toUpperCase()
  return word === undefined ? refusal : `${word} writes, and a sensor only reads: ${refusal}`
}

/** The statement without texts and comments, whose words do not count. */
function withoutTexts(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\//gs, ' ')
}
