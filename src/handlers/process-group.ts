import { readdirSync, readFileSync } from 'node:fs'

/** Sends a signal to all processes of a group; whether there was anybody to receive it. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** Whether a process of the group still runs. */
export function isGroupRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  // A signal reaches the dead too until somebody collects them, and in a container often nobody does.
  return process.platform !== 'linux' || processIds().some((pid) => isRunningMember(pid, group))
}

function isRunningMember(pid: number, group: number): boolean {
  const status = statusOf(pid)
  return status?.group === group && status.state !== 'Z' && status.state !== 'X'
}

/** All processes of this machine, as Linux shows them. */
export function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** State, parent and group of a process on Linux; undefined where it is gone. */
export function statusOf(pid: number): { state: string; parent: number; group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may itself contain anything, so the fields are counted from its end.
    const [state = '', parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent), group: Number(group) }
  } catch {
    return undefined
  }
}
