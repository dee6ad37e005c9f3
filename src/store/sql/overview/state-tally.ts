import type { StateTallyRequest } from '../../overview.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'

/** How many entries one step reads: other work continues in between. */
const entriesPerLook = 2000

// Both rely on: primary key.
const LOOK_END = `select item from rota.notes where kind = $1 and name = $2 and item >= $3
  order by item limit 1 offset ${entriesPerLook}`

const counted = (text: string): string => `select ${text} as text, count(*) as entries from rota.notes
  where kind = $1 and name = $2 and item >= $3 and ($4::text is null or item < $4::text) group by 1`

const COUNT = each({ sqlite: counted('value ->> $5'), postgres: counted('value::json ->> $5::text') })

/** Counts a bounded number of entries by a text in their values, from an item on; returns where to continue. */
export function* stateTallyPart(
  session: Session,
  { kind, name, field }: StateTallyRequest,
  { from = '', counts }: { readonly from: string | undefined; readonly counts: Map<string, number> },
): Verb<string | undefined> {
  const end = yield* session.sql.value<string>(LOOK_END, kind, name, from)
  type Row = { text: string | null; entries: number }
  for (const { text, entries } of yield* session.sql.all<Row>(COUNT, kind, name, from, end ?? null, field)) {
    const key = text ?? ''
    counts.set(key, (counts.get(key) ?? 0) + entries)
  }
  return end
}
