import type { CommandJobInfo } from './command-jobs.js'

/** A command job as `--json` prints it. */
export function commandJobView(job: CommandJobInfo) {
  return {
    id: job.id,
    type: job.type,
    schedule: job.schedule ?? null,
    executeAt: iso(job.executeAt),
    command: job.command,
    userId: job.userId,
    metadata: job.metadata,
    state: job.state,
    nextAt: iso(job.nextAt),
    executed: job.executed,
    executedAt: iso(job.executedAt),
    isShell: job.isShell,
    source: job.source,
  }
}

function iso(at: Date | undefined): string | null {
  return at?.toISOString().replace('.000Z', 'Z') ?? null
}
