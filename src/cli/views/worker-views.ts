import type { WorkerInfo } from '../../app/control/workers.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Context } from '../framework/command.js'
import type { Paint } from '../framework/print/output.js'
import { printTable } from '../framework/print/table.js'
import { roughly } from '../framework/print/time-text.js'

/** A process for a program. */
export function workerView(worker: WorkerInfo) {
  const { id, host, pid, version, roles, running, slots, isDraining, standing } = worker
  return {
    id,
    host,
    pid,
    version,
    roles,
    running,
    slots: slots ?? null,
    startedAt: formatInstant(worker.startedAt),
    lastBeatAt: worker.lastBeatAt === undefined ? null : formatInstant(worker.lastBeatAt),
    leaseUntil: formatInstant(worker.leaseUntil),
    draining: isDraining,
    standing,
  }
}

/** Prints processes as a table, as they stand at an instant of the store's clock. */
export function printWorkers({ out }: Context, workers: readonly WorkerInfo[], now: Instant): void {
  if (workers.length === 0) {
    out.say('no process works on this store; `rota up` starts one')
    return
  }
  const { green, yellow, red } = out.colors
  const paints: Readonly<Record<string, Paint>> = { live: green, draining: yellow, late: yellow, gone: red }
  printTable(out, workers, [
    { title: 'HOST', text: ({ host }) => host, shortest: 8 },
    { title: 'PID', text: ({ pid }) => String(pid), isRight: true },
    { title: 'VERSION', text: ({ version }) => version, shortest: 7 },
    { title: 'ROLES', text: ({ roles }) => roles.join(','), shortest: 6 },
    { title: 'LOAD', text: loadText, isRight: true },
    { title: 'UP', text: ({ startedAt }) => roughly(Math.max(0, now - startedAt)), isRight: true },
    { title: 'HEARTBEAT', text: ({ lastBeatAt }) => agoText(lastBeatAt, now), isRight: true },
    { title: 'STATE', text: stateText, paint: (worker) => paints[stateText(worker)] ?? green },
  ])
}

/** How many runs of how many; whoever only plans performs none. */
function loadText({ running, slots }: WorkerInfo): string {
  if (slots === 0 && running === 0) return '–'
  return `${running}/${slots ?? '?'}`
}

function agoText(at: Instant | undefined, now: Instant): string {
  return at === undefined ? '–' : `${roughly(Math.max(0, now - at))} ago`
}

function stateText({ standing, isDraining }: WorkerInfo): string {
  return standing === 'live' && isDraining ? 'draining' : standing
}
