/** Words of the page Now. */
export const words = {
  title: 'Now',
  running: 'Running',
  failed: 'Failed',
  nothingRuns: 'Nothing runs at the moment.',
  nothingFailed: 'Nothing has failed.',
  columns: { run: 'run', job: 'job', due: 'due', worker: 'worker', error: 'error' },
} as const
