import { signalGroup } from './process-group.js'

// The groups that this process has to take with it. It is about the process itself, like its table of children, and
// is empty whenever no command runs.
const groups = new Set<number>()

/** Has a group killed if this process exits before it: a command must not go on while its run is taken over elsewhere. */
export function killAtExit(group: number): () => void {
  if (groups.size === 0) process.on('exit', killAll)
  groups.add(group)
  return () => {
    groups.delete(group)
    if (groups.size === 0) process.off('exit', killAll)
  }
}

function killAll(): void {
  for (const group of groups) signalGroup(group, 'SIGKILL')
}
