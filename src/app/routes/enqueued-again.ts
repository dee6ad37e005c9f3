import type { NamedChange } from '../../kernel/audit/change-options.js'

/** The answer to a repeated enqueue, from its recorded change. Only an enqueue that created a run has one. */
export function enqueuedAgain(changed: readonly NamedChange[]): { id: string; created: true } {
  const [, id] = /^run:(.+)$/.exec(changed[0]?.subjects[0] ?? '') ?? []
  if (id === undefined) throw new Error(`an enqueue changed ${JSON.stringify(changed)}`)
  return { id, created: true }
}
