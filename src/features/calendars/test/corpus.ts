import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of calendars that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: { 'calendar list': [{ line: [] }], 'calendar show': [{ line: ['x'] }] },
}
