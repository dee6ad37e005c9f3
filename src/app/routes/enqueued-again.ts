import type { NamedChange } from '../../kernel/audit/change-options.js'

/** The answer of an enqueue whose change is named. Only a run that was created leaves a change. */
export function enqueuedAgain(changed: readonly NamedChange[]): { id: string; created: true } {
  const [, id] = /^run:(.+)$/.exec(changed[0]?.subjects[0] ?? '') ?? []
  if (id === undefined) throw new Error(`an enqueue changed ${JSON.stringify(changed)}`)
  return { id, created: true }
}
