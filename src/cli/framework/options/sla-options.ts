import type { SlaInput } from '../../../kernel/sla/sla.js'
import type { Surroundings } from '../command.js'
import type { Option } from '../syntax.js'

/** The options of an SLA. */
export const slaOptions: readonly Option[] = [
  {
    name: 'started-within',
    key: 'sla.startedWithin',
    value: 'duration',
    help: 'promise that a run begins this soon after its due time',
  },
  {
    name: 'finished-within',
    key: 'sla.finishedWithin',
    value: 'duration',
    help: 'promise that a run ends this soon after its due time',
  },
  {
    name: 'finished-by',
    key: 'sla.finishedBy',
    value: 'HH:MM',
    help: 'promise that a run ends by this time of day',
  },
  {
    name: 'sla-zone',
    key: 'sla.timezone',
    value: 'zone',
    help: 'the IANA zone of --finished-by; default: the zone of the cron expression, or UTC',
  },
  {
    name: 'not-older-than',
    key: 'sla.notOlderThan',
    value: 'duration',
    help: 'promise that the last success is never older than this',
  },
]

/** Reads the given promises, if any. The kernel checks them. */
export async function readSlaInput({ args }: Surroundings): Promise<SlaInput | undefined> {
  if (args.flag('sla-zone') && !args.flag('finished-by')) {
    const { usageError } = await import('../usage-error.js')
    throw usageError([{ path: '--sla-zone', message: 'needs --finished-by' }], 'see --help')
  }
  const given = {
    startedWithin: args.text('started-within'),
    finishedWithin: args.text('finished-within'),
    finishedBy: args.text('finished-by'),
    timezone: args.text('sla-zone'),
    notOlderThan: args.text('not-older-than'),
  }
  return Object.values(given).every((one) => one === undefined) ? undefined : given
}
