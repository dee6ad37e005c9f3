import type { Base, CorpusPart } from '../../../../test/cli/corpus.js'
import { runFilterOptions } from '../../../cli/framework/run-filter.js'

/** An action on many runs: each way to select runs is tested alone. */
const many: readonly Base[] = [
  { line: ['--dry-run'], options: runFilterOptions.map(({ name }) => name) },
  { line: ['--state', 'failed', '--dry-run'], options: ['limit'] },
]

/** The command lines of bulk actions that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    run: many,
    retry: many,
    cancel: many,
    'bulk list': [{ line: [] }],
    'bulk show': [{ line: ['x'] }],
    'bulk abort': [{ line: ['x'] }],
  },
}
