/** Words of the page of assets. */
import type { Partition } from '../../../src/client/operations.js'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** The words. */
export const words = {
  title: 'Assets',
  graph: 'Dependencies of assets',
  node: (name: string, deps: readonly string[]) =>
    deps.length === 0 ? name : `${name}, depends on ${deps.join(', ')}`,
  unknown: (name: string) => `There is no asset ${name}.`,
  kind: (kind: string, zone: string) => (zone === '' ? kind : `${kind}, ${zone}`),
  schedule: 'made by the schedule',
  noPartitions: 'It has no partitions yet: the first one has not begun.',
  older: 'Show older ones',
  legend: 'States',
  count: (state: Partition['state'], count: string) => `${count} ${state}`,
  gridLabel: 'Partitions',
  rowName: (key: string) => {
    const [, year, month, day] = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(key) ?? []
    if (year === undefined || month === undefined) return key
    const name = months[Number(month) - 1] ?? ''
    return day === undefined ? `${name} ${year}` : `${Number(day)} ${name} ${year}`
  },
  cell: (label: string, state: Partition['state']) => `${label}: ${state}`,
  selection: 'Selected partitions',
  hint: 'Drag over partitions to select them; with the keyboard, shift and arrows.',
  selectFirst: 'Select partitions first.',
  selected: (count: string, first: string, last: string) =>
    first === last ? first : `${count} partitions, ${first} to ${last}`,
  openRun: 'Its run',
  make: {
    button: 'Make it now…',
    title: (asset: string, partition: string) => `Make ${partition} of ${asset} now?`,
    text: 'One run makes this partition, also if it is done. Partitions that depend on it become stale, or are made again automatically.',
    action: 'Make it',
    done: (partition: string) => `A run for ${partition} is on its way.`,
  },
  planBackfill: 'Plan a backfill…',
  empty: {
    title: 'No assets yet',
    text: 'An asset is data that a job makes in partitions, such as a report for each day. Rota knows which partitions are done, failed or stale. Define one, then make a partition:',
    code: `assets:
  raw_events:
    partitions: daily
    command: [node, fetch.mjs]
  daily_report:
    partitions: daily
    deps: [raw_events]
    command: [node, report.mjs]`,
    afterwards: 'rota asset materialize raw_events --partition 2026-01-31',
  },
} as const

/** The words of the dialog that plans a backfill. */
export const backfillWords = {
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
  concurrency: 'Running at once',
  noLimit: 'no limit',
  made: (count: string) => `${count} to make`,
  nothingLeft: 'Nothing to make.',
  fromTo: (first: string, last: string) => `${first} to ${last}`,
  skipped: (count: string) => `${count} skipped`,
  more: (count: string) => `and ${count} more`,
  action: (count: string) => (count === '' || count === '0' ? 'Start' : `Start ${count}`),
  nothing: 'Nothing was started: there is nothing to make.',
  started: (count: string) => `Started a backfill of ${count} partitions.`,
} as const
