import type { AlertNotice } from '../../kernel/alert/notice.js'
import type { Store } from '../../store/port.js'

/** How many failing subjects are read together. */
const most = 200

/** The notices of jobs and triggers whose run was done after a failure. */
export async function recoveries(
  store: Store,
  failing: readonly AlertNotice[],
): Promise<readonly AlertNotice[]> {
  const found: AlertNotice[] = []
  const seen = new Set<string>()
  for (const failed of failing.slice(0, most)) {
    const { job, trigger } = failed
    const key = `${trigger ?? ''} ${job ?? ''}`
    if (job === null || seen.has(key)) continue
    seen.add(key)
    const of = trigger === null ? { job } : { trigger }
    const [run] = await store.runs({ ...of, state: 'done', sinceAt: failed.dueAt ?? 0, limit: 1 })
    if (run?.finishedAt === undefined || run.finishedAt <= failed.at) continue
    const text = 'a run was done after a failure'
    found.push({ on: 'recovery', at: run.finishedAt, job, trigger, run: run.id, dueAt: run.dueAt, text })
  }
  return found
}
