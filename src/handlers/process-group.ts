import { readdirSync, readFileSync } from 'node:fs'

/** Sends a signal to all processes of a group; returns whether there was one. */
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
  // A signal also reaches zombies until their parent collects them, and in a container often nobody does.
  return process.platform !== 'linux' || processIds().some((pid) => isRunningMember(pid, group))
}

function isRunningMember(pid: number, group: number): boolean {
  const status = statusOf(pid)
  return status?.group === group && status.state !== 'Z' && status.state !== 'X'
}

/** The ids of all processes of this machine, on Linux. */
export function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** State, parent and group of a process on Linux; undefined if it has ended. */
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
