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

function processIds(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

function isRunningMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may itself contain anything, so the fields are counted from its end.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(processGroup) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}
