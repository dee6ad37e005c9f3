import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusPart } from '../../../../test/cli/corpus.js'
import { runHere } from '../../../../test/cli/in-process.js'
import { root } from '../../../../test/repository.js'

/** A queue directory that exists. */
const madeQueue = 'made/queue'

/** The command lines of plans and their queue that are tested with invalid arguments. */
export const corpus: CorpusPart = {
  bases: {
    schedule: [
      { line: ['--queue-dir', 'new/queue'], options: ['plan'] },
      { line: ['--plan', 'schedule_plan.yaml'], options: ['queue-dir'] },
      { line: ['--plan', 'schedule_plan.yaml', '--queue-dir', 'new/queue'] },
    ],
    work: [{ line: [], options: ['queue-dir'] }, { line: ['--queue-dir', 'new/queue'] }],
    'queue list': [{ line: [] }],
    'queue show': [{ line: ['x'] }],
    'queue retry': [{ line: ['x'], options: ['queue-dir'] }, { line: ['x', '--queue-dir', madeQueue] }],
    'queue requeue': [{ line: [] }],
    'queue purge': [{ line: [] }],
    'plan check': [{ line: ['schedule_plan.yaml'] }],
    'plan enqueue': [{ line: ['schedule_plan.yaml', '96b0037ff184', '--dry-run'] }],
  },
  prepare: async (_, directory) => {
    for (const name of ['schedule_plan.yaml', 'pipeline.web.yml']) {
      cpSync(join(root, 'examples/plans', name), join(directory, name))
    }
    const pass = ['schedule', '--plan', 'schedule_plan.yaml', '--queue-dir', madeQueue]
    await runHere(pass, { directory, environment: { SCHEDULER_ENABLED: '1' } })
  },
}
