import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of assets that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    'asset list': [{ line: ['events'] }],
    'asset show': [{ line: ['events'] }],
    'asset grid': [{ line: ['events'] }],
    'asset stale': [{ line: ['events'] }],
    'asset materialize': [{ line: ['events'] }],
    'asset backfill': [
      { line: ['events'], options: ['partition'] },
      {
        line: ['events', '--from', '2026-01-01', '--to', '2026-01-02'],
        options: ['only', 'order', 'concurrency', 'pace', 'limit'],
      },
      { line: ['events', '--to', '2026-01-02'], options: ['from'] },
      { line: ['events', '--from', '2026-01-01'], options: ['to'] },
      { line: ['events', '--from', '2026-01-01', '--to', '2026-01-02'] },
    ],
  },
  // The labels of a backfill are checked like those of materialize.
  leftOut: { 'asset backfill': '--partition' },
  prepare: (app) => {
    const partitions = { kind: 'daily', timezone: 'UTC', start: '2026-01-01' } as const
    app.assets.define('events', { command: ['true'], partitions })
  },
}
