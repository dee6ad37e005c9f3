/**
 * Kills the commands of this process when it ends for any reason. A listener sees an exit; nothing in a process sees
 * SIGKILL. So a shell waits in its own session: this process sends it the list of running groups, and its input
 * closes when this process ends for any reason. Then it kills the remaining groups and exits.
 *
 * It is started with the first command and stays: about 1 MB, sleeping. Without `/bin/sh` only an exit is seen.
 */
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { signalGroup } from './process-group.js'

// State of the process itself, like its table of children; empty while no command runs.
const groups = new Set<number>()
let shell: Socket | undefined

/** Starts the guard if it is not running, so that the next command can be registered immediately. */
export function readyGuard(): void {
  if (shell !== undefined || process.platform === 'win32') return
  shell = startShell()
  for (const group of groups) shell?.write(`+ ${group}\n`)
}

/** Has a group killed once this process ends: a command must not continue while its run is taken over elsewhere. */
export function guardGroup(group: number): () => void {
  if (groups.size === 0) process.on('exit', killAll)
  groups.add(group)
  shell?.write(`+ ${group}\n`)
  return () => {
    groups.delete(group)
    shell?.write(`- ${group}\n`)
    if (groups.size === 0) process.off('exit', killAll)
  }
}

function killAll(): void {
  for (const group of groups) signalGroup(group, 'SIGKILL')
}

/** Keeps the groups as words between spaces. An incomplete last line is ignored. */
const script = `
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
`

function startShell(): Socket | undefined {
  const child = spawn('/bin/sh', ['-c', script, 'rota-guard'], {
    // A session of its own: signals of a terminal or supervisor to the group of this process must not reach it.
    detached: true,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.once('error', () => undefined)
  if (child.pid === undefined) return undefined
  const input = child.stdin as Socket
  // If it was killed, the next command starts a new one.
  child.once('exit', () => {
    if (shell === input) shell = undefined
  })
  input.on('error', () => undefined)
  child.unref()
  input.unref()
  return input
}
