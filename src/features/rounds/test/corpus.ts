import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of rounds that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    'round start': [
      { line: ['laps', '-s', 'greet'], options: ['every'] },
      { line: ['laps', '--every', '1h'], options: ['service'] },
      { line: ['laps', '--every', '1h', '-s', 'greet', '--finished-by', '07:30'], options: ['sla-zone'] },
      { line: ['laps', '--every', '1h', '-s', 'greet'] },
    ],
    'round stop': [{ line: ['x'] }],
    'round status': [{ line: ['x'] }],
    'round timing': [{ line: ['greet'] }],
    'round timing set': [{ line: ['greet'], options: ['every'] }, { line: ['greet', '--every', '1h'] }],
    'round state': [{ line: ['x'] }],
    'round list': [{ line: [] }],
  },
}
