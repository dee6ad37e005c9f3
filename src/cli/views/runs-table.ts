import type { Run, RunState } from '../../kernel/run/run.js'
import type { Colors, Output, Paint } from '../framework/print/output.js'
import type { Pending } from './pending-of.js'
import type { ShortId } from '../host/short-id-of.js'
import { printTable } from '../framework/print/table.js'
import { age, roughly, type TimeText } from '../framework/print/time-text.js'

/** Prints runs as a table. */
export function printRuns(
  out: Output,
  runs: readonly Run[],
  {
    times,
    shortId,
    pending,
  }: { readonly times: TimeText; readonly shortId: ShortId; readonly pending: Pending },
): void {
  printTable(out, runs, [
    { title: 'RUN', text: (run) => shortId(run.id) },
    { title: 'STATE', text: (run) => run.state, paint: (run) => statePaint(out.colors, run.state) },
    { title: 'OF', text: ofText, shortest: 8 },
    { title: 'PARTITION', text: (run) => run.partition ?? '', shortest: 10 },
    { title: 'DUE', text: (run) => times.short(run.dueAt), spare: 3 },
    { title: 'AGE', text: (run) => (run.dueAt > times.now ? '' : age(times.now - run.dueAt)), isRight: true },
    { title: 'TOOK', text: tookText, isRight: true, spare: 2 },
    { title: 'TRY', text: (run) => (run.attempt === 0 ? '' : String(run.attempt)), isRight: true, spare: 1 },
    { title: 'NOTE', text: (run) => pending.short(run, times) ?? noteText(run, times), shortest: 6 },
  ])
}

/** The colour of a state. */
export function statePaint(colors: Colors, state: RunState): Paint {
  switch (state) {
    case 'done':
      return colors.green
    case 'failed':
      return colors.red
    case 'running':
      return colors.cyan
    case 'pending':
    case 'cancelled':
      return colors.yellow
  }
}

/** What a run is of: its trigger, else its job; a service also of its round. */
export function ofText({ trigger, job, origin }: Run): string {
  return origin === 'round' ? `${trigger ?? ''} ${job}` : (trigger ?? job)
}

/** How long the newest attempt of a run took. */
export function tookText({ startedAt, finishedAt }: Run): string {
  return startedAt === undefined || finishedAt === undefined ? '' : roughly(finishedAt - startedAt)
}

/** Why a run is how it is, where the state alone does not say. */
export function noteText(run: Run, times: TimeText): string {
  if (run.state === 'pending') return waitingText(run, times)
  if (run.state === 'running' && run.cancelRequested)
    return run.reason === 'removed' ? 'removed; this attempt is the last' : 'cancel requested'
  if (run.state === 'running') return ''
  if (run.state === 'done') return ''
  return run.reason ?? run.error?.message ?? ''
}

function waitingText(run: Run, times: TimeText): string {
  if (run.waitsFor !== undefined) return `waits for ${run.waitsFor}`
  const when = times.distance(run.runAt)
  return run.error === undefined ? when : `again ${when}: ${run.error.message}`
}
