/** Words of the page Now. */
import { formatCount } from '../data/format.js'

/** The words of the page. */
export const words = {
  title: 'Now',
  needs: {
    title: 'Needs you',
    calm: 'Nothing needs you.',
    calmText: 'No failed run without a later success, nothing missed, nothing late, no sensor failing.',
    failed: (tries: string) => (tries === '' ? 'failed' : `failed ${tries}`),
    missed: (ranges: number) => (ranges === 1 ? 'missed' : `missed ${formatCount(ranges)} times`),
    late: 'late, waits for',
    backlog: (ready: number) => `${formatCount(ready)} wait, the oldest since`,
    sensor: (failures: number) =>
      failures === 1
        ? 'sensor, its last poll failed'
        : `sensor, ${formatCount(failures)} polls failed in a row`,
    others: (count: string) => `${count} more`,
    looked: 'Dismiss',
    lookedHint: 'Takes it off this list, for everybody. The ledger keeps it.',
    lookedDone: (trigger: string) => `${trigger} is off the list, for everybody.`,
    lookedAt: (count: number) =>
      `Only the newest ${formatCount(count)} failed runs were looked at; an older one may need you too.`,
    moreFailed: 'There are more: all failed runs, by error.',
    allFailed: 'All failed runs, by error.',
    rule: 'A failed run leaves this list when it is retried and done, or when a later run of its trigger is done.',
  },
  next: {
    title: 'Next 60 minutes',
    count: (count: string) => `${count} due`,
    perMinute: (count: string, most: string) =>
      `${count} due times in the next 60 minutes, at most ${most} in a minute`,
    most: (most: string) => `by minute, at most ${most}`,
    triggers: (count: string) => `${count} triggers`,
    usually: (duration: string) => `usually ${duration}`,
    nothing: 'Nothing is due in the next 60 minutes.',
    changes: {
      moved: 'moved by the clock change',
      added: 'twice by the clock change',
      dropped: 'left out by the clock change',
    },
  },
  running: {
    title: 'Running',
    slots: (running: string, slots: string) => `${running} of ${slots} slots`,
    count: (running: string) => `${running} now`,
    nothing: 'Nothing is running.',
    noWorker: 'No worker is alive. “rota up” starts one.',
    workers: (live: number) => (live === 1 ? '1 worker' : `${formatCount(live)} workers`),
    usual: (duration: string) => `usually ${duration}`,
    longer: 'longer than usual',
  },
  day: {
    title: 'Last 24 hours',
    yesterday: 'yesterday',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
    lateness: 'late by, median',
    duration: 'took, median',
    slow: (duration: string) => `99 % within ${duration}`,
    verySlow: '1 % over a day',
    nothing: 'No run has ended in the last 24 hours.',
    bars: (done: string, failed: string) => `${done} runs done and ${failed} failed in the last 24 hours`,
    all: 'All runs',
  },
  empty: {
    title: 'Nothing is scheduled yet.',
    text: 'A trigger says when a job runs. Add one that runs every minute: the command takes effect at once, the config file when it is loaded again.',
  },
} as const
