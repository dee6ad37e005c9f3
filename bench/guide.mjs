// Writes the figures of a guide between its marks, so that they come from one run and are not copied by hand.
import { readFileSync, writeFileSync } from 'node:fs'
import { toTable } from './cells.mjs'
import { costsInShort, sizingRows } from './postgres-tables.mjs'

/** Replaces the text between `<!-- costs -->`, `<!-- sizing -->` and their ends. */
export function fillGuide(path, { costs }) {
  const { steady, room } = costs
  const tables = { costs: costsInShort(costs), sizing: sizingRows(steady, room) }
  let text = readFileSync(path, 'utf8')
  for (const [name, rows] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from === -1 || to < from) throw new Error(`${path} has no ${begin} … ${end}`)
    text = `${text.slice(0, from + begin.length)}\n\n${toTable(rows)}\n\n${text.slice(to)}`
  }
  writeFileSync(path, text)
}
