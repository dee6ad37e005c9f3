/** What `rota round --json` prints: the words of the files, in snake_case. */
import type { RoundState, RoundStatus, ServiceTimes } from './status.js'
import { formatInstant, type Instant } from '../../time/instant.js'

/** How a round stands. */
export function roundView(status: RoundStatus) {
  return {
    name: status.name,
    interval_ms: status.intervalMs,
    services: status.services,
    checked_at: iso(status.checkedAt),
    resumed: status.resumed,
    current_service: status.currentService,
    remaining_services: status.remainingServices,
    completed_count: status.completedCount,
    results: status.results,
    skipped: status.skipped.map(skipView),
    next_check_at: iso(status.nextCheckAt),
  }
}

/** The saved state of a round. */
export function stateView({ checkedAt, servicesQueue, currentService, results }: RoundState) {
  return {
    checked_at: iso(checkedAt),
    services_queue: servicesQueue,
    current_service: currentService,
    results,
  }
}

/** When a service ran last and is due again. */
export function timingView(times: ServiceTimes) {
  return {
    service: times.service,
    last_run_timestamp: times.lastRunTimestamp,
    interval_seconds: times.intervalSeconds,
    next_due_timestamp: times.nextDueTimestamp,
  }
}

/** A service that a check left out, and why. */
export function skipView({ service, reason, dueAt, round }: RoundStatus['skipped'][number]) {
  return {
    service,
    reason,
    ...(dueAt === undefined ? {} : { due_at: iso(dueAt) }),
    ...(round === undefined ? {} : { round }),
  }
}

function iso(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at)
}
