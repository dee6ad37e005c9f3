import type { PoolCounters } from './pool.js'

/** The counters of a pool as Prometheus reads them. */
export function poolMetrics(counters: PoolCounters): string {
  const { submitted, completed, failed, totalDurationMs } = counters
  return [
    counter('rota_pool_tasks_submitted_total', 'Attempts that this process has begun.', submitted),
    counter('rota_pool_tasks_completed_total', 'Attempts that were done.', completed),
    counter('rota_pool_tasks_failed_total', 'Attempts that failed, timed out or were cancelled.', failed),
    counter(
      'rota_pool_duration_seconds_total',
      'How long all attempts took together.',
      totalDurationMs / 1000,
    ),
  ].join('')
}

function counter(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${name} ${value}\n`
}
