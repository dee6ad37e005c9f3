/**
 * Ends the commands of this process with it, however it goes. A listener sees an exit; nothing within a process sees
 * SIGKILL. So a shell stands by, in a session of its own: it is told which groups run, and its input closes when this
 * process is gone, whatever took it. Then it kills those that are left, and ends.
 *
 * It is started with the first command and stays: about 1 MB, which sleeps. Where there is no `/bin/sh`, an exit is
 * still seen.
 */
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { signalGroup } from './process-group.js'

// About the process itself, like its table of children; empty whenever no command runs.
const groups = new Set<number>()
let shell: Socket | undefined

/** Has the guard ready, so that a command that is started next can be told of at once. */
export function readyGuard(): void {
  if (shell !== undefined || process.platform === 'win32') return
  shell = startShell()
  for (const group of groups) shell?.write(`+ ${group}\n`)
}

/** Has a group killed once this process is gone: a command must not go on while its run is taken over elsewhere. */
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

/** Keeps the groups as words between spaces. A last line that was cut off is not acted on. */
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
    // A session of its own: what a terminal or a supervisor sends to the group of this process is not meant for it.
    detached: true,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.once('error', () => undefined)
  if (child.pid === undefined) return undefined
  const input = child.stdin as Socket
  // One that was killed is replaced with the next command.
  child.once('exit', () => {
    if (shell === input) shell = undefined
  })
  input.on('error', () => undefined)
  child.unref()
  input.unref()
  return input
}
