import { readFileSync } from 'node:fs'
import type { Clock } from '../time/clock.js'
import type { HandlerContext } from './handler-context.js'
import { isGroupRunning, processIds, signalGroup, statusOf } from './process-group.js'
import { KILL_GRACE_MS } from './process-tree.js'

/**
 * Kills the commands and isolated processes of earlier attempts of a run that other workers of this host still run:
 * their leases have expired, and the next attempt must not run at the same time. A process is killed only if it is a
 * child of such a worker, leads its own group, and has this run and an earlier attempt in its environment. Needs
 * `/proc`; does nothing without it.
 */
export async function killEarlierCommands(
  workers: ReadonlySet<number>,
  { run, log, clock }: Pick<HandlerContext, 'run' | 'log'> & { readonly clock: Clock },
): Promise<void> {
  if (process.platform !== 'linux') return
  const left = processIds().filter((pid) => isEarlier(pid, workers, run))
  for (const pid of left) {
    if (!signalGroup(pid, 'SIGKILL')) continue
    log('warn', `killed process ${pid} of an earlier attempt, whose worker had lost its lease`)
  }
  const deadline = clock.monotonicMs() + KILL_GRACE_MS
  while (left.some(isGroupRunning) && clock.monotonicMs() < deadline) await clock.sleep(checkEveryMs)
}

const checkEveryMs = 10

function isEarlier(
  pid: number,
  workers: ReadonlySet<number>,
  run: { readonly id: string; readonly attempt: number },
): boolean {
  const status = statusOf(pid)
  if (status === undefined || status.group !== pid || !workers.has(status.parent)) return false
  const variables = environmentOf(pid)
  const attempt = Number(variables.get('ROTA_ATTEMPT'))
  return variables.get('ROTA_RUN_ID') === run.id && attempt < run.attempt
}

/** Empty if it cannot be read: the process then belongs to another user. */
function environmentOf(pid: number): ReadonlyMap<string, string> {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, 'latin1')
    return new Map(
      text.split('\0').map((variable): [string, string] => {
        const at = variable.indexOf('=')
        return [variable.slice(0, at), variable.slice(at + 1)]
      }),
    )
  } catch {
    return new Map()
  }
}
