import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { fingerprintOf } from '../../kernel/identity/identity.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'

/** `plan:` and the path from a directory, written with slashes on every system. */
export function planSourceName(path: string, directory: string): string {
  return `plan:${relative(directory, resolve(directory, path)).split(sep).join('/')}`
}

/** A file by its name without links; as it was named where it is not there. */
export function realFile(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The source of the triggers whose cursors say how far plans have been passed. */
export const passSource = 'plans'

/** Whether a trigger is not to become runs, but says how far a plan has been passed. */
export function isPass({ trigger, source }: Pick<StoredTrigger, 'trigger' | 'source'>): boolean {
  return source === passSource && trigger.name.startsWith('pass:')
}

/** How triggers are performed without an engine: `rota schedule` has passed over their plans, and cron starts a worker for each run. */
export function withoutEngine(active: readonly StoredTrigger[]): string | undefined {
  const isForCron =
    active.some(isPass) && active.every((one) => isPass(one) || one.source.startsWith('plan:'))
  return isForCron ? '`rota work` performs what `rota schedule` enqueues' : undefined
}

/** The trigger whose cursor says how far a plan has been passed; a path may have what a name may not. */
export function passName(source: string): string {
  return /^[\w.:@/-]{1,100}$/.test(source) ? `pass:${source}` : `pass:${fingerprintOf(source)}`
}
