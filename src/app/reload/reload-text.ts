import type { OperationNotice } from '../../engine/events.js'
import type { Json } from '../../kernel/definition/json.js'
import type { NameDiff } from '../explain/definition-diff.js'
import type { ReloadReport } from './reload.js'
import type { ReloadAnswer } from './requests.js'

/** The event of a reload. */
export function describeReload(source: string, answer: ReloadAnswer): OperationNotice {
  const base = { operation: 'reload', target: source }
  if (answer.outcome !== 'refused')
    return { ...base, outcome: 'reloaded', details: { message: reloadText(answer) } }
  const { code, message, faults } = answer
  const oneLine = message.replaceAll(/\s*\n\s*/g, ' ')
  const details = { code, message: `${oneLine}; nothing was changed`, faults: faults as unknown as Json }
  return { ...base, outcome: 'failed', details }
}

/** What a reload changed, in one line. */
export function reloadText({ jobs, triggers, unchanged, needsRestart }: ReloadReport): string {
  const parts = [...diffText('job', jobs), ...diffText('trigger', triggers)]
  const changes = parts.length === 0 ? 'no difference' : parts.join(', ')
  const rest = `${changes}; ${unchanged} ${unchanged === 1 ? 'trigger' : 'triggers'} unchanged`
  return needsRestart.length === 0 ? rest : `${rest}; need a restart: ${needsRestart.join(', ')}`
}

function diffText(what: 'job' | 'trigger', diff: NameDiff): readonly string[] {
  return (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const count = diff[kind].length
    return count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'} ${kind}`]
  })
}
