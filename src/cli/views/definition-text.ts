import type { Job } from '../../kernel/job/job.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { shellWord } from '../framework/print/words.js'

/** The partition of a due instant, in a few words. */
export function partitionText(partition: StoredTrigger['trigger']['partition']): string | undefined {
  if (typeof partition !== 'object') return partition
  return 'label' in partition ? `always ${partition.label}` : `the slice of ${partition.key}`
}

/** What a job does, in a few words. */
export function handlerText(handler: Job['handler']): string {
  switch (handler.kind) {
    case 'function':
      return 'function'
    case 'module':
      return moduleText(handler)
    case 'shell':
      return handler.argv.map(shellWord).join(' ')
    case 'http':
      return `${handler.method ?? (handler.body === undefined ? 'GET' : 'POST')} ${handler.url}`
    case 'pipeline':
      return handler.path === undefined ? 'pipeline of the run' : `pipeline ${handler.path}`
  }
}

function moduleText({ module, export: name, isolate }: Extract<Job['handler'], { kind: 'module' }>): string {
  const where = isolate === undefined ? '' : ` in its own ${isolate.kind}`
  return `${name} of ${module}${where}`
}
