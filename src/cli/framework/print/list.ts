import type { Output } from './output.js'
import { type Columns, printTable } from './table.js'

/** How records are listed. */
export interface List<Row> {
  readonly columns: Columns<Row>
  /** What is said where there are none. */
  readonly empty: string
  /** What `--json` prints of a record; default: all of it. */
  readonly json?: (row: Row) => unknown
}

/** Prints records: as JSON, as a table, or as the sentence that there are none. */
export function printList<Row extends object>(out: Output, rows: readonly Row[], list: List<Row>): void {
  const { columns, empty, json = (row: Row): unknown => row } = list
  out.show(out.isJson ? rows.map(json) : [], () => {
    if (rows.length === 0) out.say(empty)
    else printTable(out, rows, columns)
  })
}
