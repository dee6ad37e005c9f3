import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusPart } from '../../../../test/cli/corpus.js'

/** The command lines of command jobs that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    'job add': [
      { line: ['--command', 'c'], options: ['schedule', 'at', 'zone'] },
      { line: ['--at', '+2h'], options: ['command'] },
      { line: ['fresh', '--at', '+2h', '--command', 'c'] },
    ],
    'job remove': [{ line: ['x'] }],
    'job get': [{ line: ['x'] }],
    'job list': [{ line: [] }],
    'job run': [{ line: ['x'] }],
    'job cleanup': [{ line: [] }],
    import: [{ line: ['jobs.jsonl', '--dry-run'] }],
    export: [{ line: ['new.jsonl'] }],
  },
  // A jobs file that cannot be read is reported, and the jobs are still listed.
  leftOut: { 'job get': '--jobs', 'job list': '--jobs' },
  prepare: (_, directory) => writeFileSync(join(directory, 'jobs.jsonl'), ''),
}
