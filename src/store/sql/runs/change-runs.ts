import type { Instant } from '../../../time/instant.js'
import type { ChangeRuns, RunChange, RunsOfChange } from '../../change-runs.js'
import type { Session } from '../session.js'
import { areCurrent, writeStateEntry } from '../state.js'
import type { Verb } from '../verb.js'
import { advance, cancel, retry } from './cancel.js'
import { enqueue } from './enqueue.js'

/**
 * Changes runs together with the state entry that counts them, or nothing if that entry has changed. Exclusive access
 * closes the race of two processes that continue the same change.
 */
export function* changeRuns(session: Session, request: ChangeRuns): Verb<readonly RunChange[] | 'stale'> {
  const { now, entry } = request
  const { kind, name, item, revision, valueAfter } = entry
  session.beExclusive()
  session.noteTime(now)
  if (!(yield* areCurrent(session, [{ kind, name, item, revision, value: undefined }]))) return 'stale'
  const answers = yield* changeEach(session, request, now)
  yield* writeStateEntry(session, { kind, name, item, value: valueAfter(answers) }, now)
  // Wakes workers that wait for runs.
  session.tell('anything')
  return answers
}

function* changeEach(session: Session, change: RunsOfChange, now: Instant): Verb<RunChange[]> {
  if (change.action === 'record') {
    const enqueued = yield* enqueue(session, { runs: change.newRuns, now })
    return enqueued.map(({ created }) => (created ? 'recorded' : 'existing'))
  }
  const { action, runs, reason } = change
  const answers: RunChange[] = []
  for (const run of runs) {
    if (action === 'cancel') answers.push(yield* cancel(session, { run, now, reason }))
    else answers.push(yield* (action === 'retry' ? retry : advance)(session, { run, now }))
  }
  return answers
}
