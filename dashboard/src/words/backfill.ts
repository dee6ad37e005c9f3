/** Words of the dialog that plans a backfill. */

/** The words of the dialog. */
export const words = {
  title: (asset: string) => `Backfill ${asset}`,
  range: (from: string, to: string) => (from === to ? `Partition ${from}.` : `Partitions ${from} to ${to}.`),
  only: 'Which',
  onlys: {
    missing: 'missing ones',
    'missing-or-failed': 'missing and failed ones',
    failed: 'failed ones',
    stale: 'stale ones',
    all: 'all, also done ones',
  },
  order: 'Order',
  orders: { 'oldest-first': 'oldest first', 'newest-first': 'newest first' },
  pace: 'At a time',
  noPace: 'no limit',
  made: (count: string) => `${count} to make`,
  fromTo: (first: string, last: string) => `${first} to ${last}`,
  skipped: (count: string) => `${count} skipped`,
  more: (count: string) => `and ${count} more`,
  action: (count: string) => (count === '' ? 'Start' : `Start ${count}`),
  nothing: 'Nothing was started: there is nothing to make.',
  started: (count: string) => `Started a backfill of ${count} partitions.`,
} as const
