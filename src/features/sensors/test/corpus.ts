import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of sensors that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    'sensor list': [{ line: [] }],
    'sensor show': [{ line: ['files'] }],
    'sensor history': [{ line: ['files'] }],
    'sensor preview': [{ line: ['files'] }],
    'sensor reset': [{ line: ['files', '--keep-keys'] }],
    'sensor pause': [{ line: ['files'] }],
    'sensor resume': [{ line: ['files'] }],
  },
  prepare: (app) => {
    const sensor = {
      init: () => ({ kind: 'ok' as const, state: null }),
      poll: () => ({ kind: 'no-trigger' as const, state: null }),
    }
    app.sensors.define('files', { sensor, job: 'greet', every: '1h' })
  },
}
