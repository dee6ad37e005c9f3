import type { App } from '../../../app/rota.js'
import { type Coverage, type CoverageReport, isComplete } from '../../../kernel/ledger/coverage.js'
import { type Command, exitCodes, onApp, storeOptions, zoneOption } from '../../framework/command.js'
import { type Columns, printTable } from '../../framework/print/table.js'
import type { TimeText } from '../../framework/print/time-text.js'
import { count } from '../../framework/print/words.js'
import { momentOf } from '../../framework/times-of.js'

/** `rota coverage`: proves that no due instant was lost. */
export const coverage: Command<App> = {
  name: 'coverage',
  about:
    'Computes the due instants of every timed trigger again from the stored definitions, and compares them with the ledger. Each is a run, or has a recorded reason. Anything else is an error, with exit code 1.',
  arguments: [{ name: 'trigger', help: 'only this one', isOptional: true, completes: 'trigger' }],
  options: [
    { name: 'since', value: 'time', help: 'from then on; default: from the first definition' },
    zoneOption,
    ...storeOptions,
  ],
  examples: {
    'rota coverage': 'all triggers, from the beginning',
    'rota coverage nightly --since 30d': 'one trigger, the last thirty days',
  },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const since = momentOf(context, 'since', 'ago')
    const all = await app.coverage({ trigger: args.optionalWord(0), since })
    const incomplete = all.filter((one) => !isComplete(one))
    out.show({ complete: incomplete.length === 0, triggers: all }, () => {
      if (all.length === 0) out.say('no timed triggers yet; `rota list` lists the triggers')
      else printTable(out, all, columns)
      if (all.some((one) => one.otherZoneRules))
        out.note('some instants were planned under other time zone rules than those of this machine')
      for (const one of incomplete) out.note(`error: ${one.trigger}: ${incompleteText(one, out.times())}`)
    })
    return incomplete.length === 0 ? exitCodes.ok : exitCodes.failed
  }),
}

const columns: Columns<CoverageReport> = [
  { key: 'trigger', shortest: 12 },
  'due',
  'run',
  {
    title: 'EXPLAINED',
    text: ({ explained }) => Object.values(explained).reduce((sum, number) => sum + number, 0),
  },
  {
    title: 'UNEXPLAINED',
    text: ({ unexplainedCount, unexpectedCount }) => unexplainedCount + unexpectedCount,
    colors: { 0: 'green', '*': 'red' },
  },
  {
    title: 'REASONS',
    text: ({ explained }) =>
      Object.entries(explained)
        .map(([reason, number]) => `${reason} ${number}`)
        .join(', '),
    shortest: 8,
  },
  {
    title: 'SLA BREACHES',
    text: ({ breaches }) => (breaches === 0 ? undefined : breaches),
    colors: { '*': 'red' },
  },
]

function incompleteText(one: Coverage, times: TimeText): string {
  const { unexplained, unexplainedCount, unexpected, unexpectedCount } = one
  const first = unexplained[0] ?? unexpected[0]
  const missing = unexplainedCount === 0 ? [] : [`${count(unexplainedCount, 'due instant')} without a record`]
  const surplus =
    unexpectedCount === 0 ? [] : [`${count(unexpectedCount, 'run')} at instants that are not due`]
  const example = first === undefined ? '' : `, the first at ${times.exact(first)}`
  return `${[...missing, ...surplus].join(' and ')}${example}`
}
