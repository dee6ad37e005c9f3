import type { Run, RunState } from '../../kernel/run/run.js'
import type { Colors, Output } from '../framework/print/output.js'
import { printTable } from '../framework/print/table.js'
import { age, roughly, type TimeText } from '../framework/print/time-text.js'
import type { Pending } from './pending-of.js'

/** Prints runs as a table. */
export function printRuns(out: Output, runs: readonly Run[], pending: Pending): void {
  printTable(out, runs, [
    { title: 'RUN', text: (run) => pending.shortId(run.id) },
    { key: 'state', colors: stateColors },
    { title: 'OF', text: ofText, shortest: 8 },
    { key: 'partition', shortest: 10 },
    { key: 'dueAt', spare: 3 },
    {
      title: 'AGE',
      text: (run, times) => (run.dueAt > times.now ? '' : age(times.now - run.dueAt)),
      isRight: true,
    },
    { title: 'TOOK', text: tookText, isRight: true, spare: 2 },
    { title: 'TRY', text: (run) => (run.attempt === 0 ? undefined : run.attempt), isRight: true, spare: 1 },
    { title: 'NOTE', text: (run, times) => pending.short(run, times) ?? noteText(run, times), shortest: 6 },
  ])
}

/** The colour of each state. */
export const stateColors: Readonly<Record<RunState, keyof Colors>> = {
  done: 'green',
  failed: 'red',
  running: 'cyan',
  pending: 'yellow',
  cancelled: 'yellow',
}

/** The trigger of a run, otherwise its job; for a service also its round. */
export function ofText({ trigger, job, origin }: Run): string {
  return origin === 'round' ? `${trigger ?? ''} ${job}` : (trigger ?? job)
}

/** How long the newest attempt of a run took. */
export function tookText({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): string {
  return startedAt === undefined || finishedAt === undefined ? '' : roughly(finishedAt - startedAt)
}

/** Why a run has its state, if the state alone does not explain it. */
export function noteText(run: Run, times: TimeText): string {
  switch (run.state) {
    case 'pending':
      return waitingText(run, times)
    case 'running':
      if (!run.cancelRequested) return ''
      return run.reason === 'removed' ? 'removed; this attempt is the last' : 'cancel requested'
    case 'done':
      return ''
    case 'failed':
    case 'cancelled':
      return run.reason ?? run.error?.message ?? ''
  }
}

function waitingText(run: Run, times: TimeText): string {
  if (run.waitsFor !== undefined) return `waits for ${run.waitsFor}`
  const when = times.distance(run.runAt)
  return run.error === undefined ? when : `again ${when}: ${run.error.message}`
}
