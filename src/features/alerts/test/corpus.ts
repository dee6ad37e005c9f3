import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of alerts that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    'alert list': [{ line: [] }],
    'alert test': [{ line: ['ops'] }],
  },
}
