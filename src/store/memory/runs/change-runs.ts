import type { ChangeRuns, RunChange } from '../../change-runs.js'
import { areCurrent, writeStateEntry } from '../state.js'
import type { Tables } from '../tables.js'
import { advance, cancel, retry } from '../work.js'

/** Changes runs together with the state entry that counts them, or nothing where that entry has moved on. */
export function changeRuns(tables: Tables, request: ChangeRuns): readonly RunChange[] | 'stale' {
  const { action, runs, now, reason, entry } = request
  const { kind, name, item, revision, valueAfter } = entry
  if (!areCurrent(tables, [{ kind, name, item, revision, value: undefined }])) return 'stale'
  const answers = runs.map((run): RunChange => {
    if (action === 'cancel') return cancel(tables, { run, now, reason })
    return (action === 'retry' ? retry : advance)(tables, { run, now })
  })
  writeStateEntry(tables, { kind, name, item, value: valueAfter(answers) }, now)
  return answers
}
