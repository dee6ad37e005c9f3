/** Words of the dialog that edits a trigger. */
export const words = {
  title: (name: string) => `Edit ${name}`,
  action: 'Save',
  saved: (name: string) => `Saved ${name}.`,
  fields: {
    cron: 'Cron expression',
    timezone: 'Time zone',
    dst: 'Skipped and repeated times',
    every: 'Every',
    after: 'Measured from',
    overlap: 'Overlap',
    catchUp: 'Catch-up',
  },
  dsts: {
    vixie: 'vixie: moved, then once',
    skip: 'skip: left out, then once',
    'real-time': 'real-time: left out, then twice',
  },
  afters: { grid: 'a fixed grid', finish: 'the end of the run before' },
  everyHint: 'Such as 90s, 20m, 12h or 1d.',
  unchanged: 'Nothing is changed yet. The next due times and the difference appear here.',
  next: 'Next due',
  same: 'The due times stay the same.',
  appear: (count: string, isCapped: boolean) => `${count}${isCapped ? '+' : ''} appear within a year`,
  vanish: (count: string, isCapped: boolean) => `${count}${isCapped ? '+' : ''} vanish within a year`,
  moved: (count: string, isCapped: boolean) => `${count}${isCapped ? '+' : ''} move within a year`,
  load: (before: string, after: string) =>
    `All triggers, next 7 days: ${before} → ${after} due. Busiest minute:`,
  noPeak: 'none',
  at: 'at',
  atOnce: (runs: number, skipped: string) =>
    `Due already: ${runs} ${runs === 1 ? 'run' : 'runs'} at once${skipped === '' ? '' : `; the rest is recorded as ${skipped}`}.`,
  more: (count: string) => `and ${count} more`,
  stale:
    'Somebody else has changed this trigger since you opened it. Nothing was saved. Close this, look at the versions, and edit again.',
  staleTodo: 'Read the trigger again.',
  owned: (source: string) =>
    source.startsWith('config:')
      ? `This trigger belongs to the config of ${source.slice(7)}. Change the config file, then restart or reload the process.`
      : `This trigger belongs to the code of ${source.slice(source.indexOf(':') + 1)}. Change it there and deploy.`,
} as const
