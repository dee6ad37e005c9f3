import { breachText, type Breach } from '../../kernel/sla/deadline.js'
import { formatInstant } from '../../time/instant.js'
import { pick } from '../to-json.js'

/** A breach of an SLA. */
export function breachView(breach: Breach) {
  return {
    ...pick(breach, [
      'rule',
      'of',
      'name',
      'trigger',
      'job',
      'run',
      'partition',
      'dueAt',
      'deadlineAt',
      'at',
    ]),
    text: breachText(breach, formatInstant),
  }
}
