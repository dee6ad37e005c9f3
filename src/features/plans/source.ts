import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { fingerprintOf } from '../../kernel/identity/identity.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'

/** `plan:` and the path from a directory, written with slashes on every system. */
export function planSourceName(path: string, directory: string): string {
  return `plan:${relative(directory, resolve(directory, path)).split(sep).join('/')}`
}

/** The path of a file with links resolved; the path itself if there is no such file. */
export function realFile(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The source of the triggers whose cursors are the times of passes. */
export const passSource = 'plans'

/** Whether a trigger makes no runs but keeps the time of the last pass over a plan. */
export function isPass({ trigger, source }: Pick<StoredTrigger, 'trigger' | 'source'>): boolean {
  return source === passSource && trigger.name.startsWith('pass:')
}

/** How plans are performed without an engine: cron starts `rota schedule` for them, and `rota work` for each run. */
export function withoutEngine(active: readonly StoredTrigger[]): string | undefined {
  const isForCron =
    active.some(isPass) && active.every((one) => isPass(one) || one.source.startsWith('plan:'))
  return isForCron ? '`rota work` performs what `rota schedule` enqueues' : undefined
}

/** The name of the trigger whose cursor is the time of the last pass over a plan; a path may not fit into a name. */
export function passName(source: string): string {
  return /^[\w.:@/-]{1,100}$/.test(source) ? `pass:${source}` : `pass:${fingerprintOf(source)}`
}
