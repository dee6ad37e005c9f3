import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of calendars that are tried with bad words. */
export const corpus: CorpusPart = {
  bases: { 'calendar list': [{ line: [] }], 'calendar show': [{ line: ['x'] }] },
}
