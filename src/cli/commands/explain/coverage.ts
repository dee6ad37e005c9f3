import { type Coverage, isComplete } from '../../../kernel/ledger/coverage.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { count } from '../../views/in-words.js'
import { printTable } from '../../framework/print/table.js'
import { momentOf, timesOf } from '../../framework/times-of.js'
import { coverageView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

/** `rota coverage`: proves that nothing was lost. */
export const coverage: Command = {
  name: 'coverage',
  about:
    'Computes the due instants of every timed trigger anew from the definitions that were kept, and compares them with the ledger. Each is a run, or explained. Anything else is an error and exit code 1.',
  arguments: [{ name: 'trigger', help: 'only this one', isOptional: true, completes: 'trigger' }],
  options: [
    { name: 'since', value: 'time', help: 'from then on; default from the first definition' },
    zoneOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota coverage', meaning: 'all triggers, from the beginning' },
    { line: 'rota coverage nightly --since 30d', meaning: 'one trigger, the last thirty days' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out } = context
      const since = momentOf(context, 'since', 'ago')
      const trigger = args.optionalWord(0)
      const all = await app.coverage({
        ...(trigger === undefined ? {} : { trigger }),
        ...(since === undefined ? {} : { since: new Date(since) }),
      })
      const incomplete = all.filter((one) => !isComplete(one))
      if (args.flag('json')) out.json({ complete: incomplete.length === 0, triggers: all.map(coverageView) })
      else if (all.length === 0) out.say('no timed triggers yet; `rota list` shows what there is')
      else print(context, all)
      if (incomplete.length === 0) return exitCodes.ok
      if (!args.flag('json')) tellIncomplete(context, incomplete)
      return exitCodes.failed
    }),
}

function print(context: Context, all: readonly Coverage[]): void {
  const { out } = context
  const bad = (one: Coverage): number => one.unexplainedCount + one.unexpectedCount
  printTable(out, all, [
    { title: 'TRIGGER', text: (one) => one.trigger, shortest: 12 },
    { title: 'DUE', text: (one) => String(one.due), isRight: true },
    { title: 'RUN', text: (one) => String(one.run), isRight: true },
    { title: 'EXPLAINED', text: (one) => String(sum(one)), isRight: true },
    {
      title: 'UNEXPLAINED',
      text: (one) => String(bad(one)),
      isRight: true,
      paint: (one) => (bad(one) > 0 ? out.colors.red : out.colors.green),
    },
    { title: 'REASONS', text: reasonsText, shortest: 8 },
  ])
  if (all.some((one) => one.otherZoneRules)) {
    out.note('some instants were planned under other time zone rules than those of this machine')
  }
}

function sum({ explained }: Coverage): number {
  return Object.values(explained).reduce((total, number) => total + number, 0)
}

function reasonsText({ explained }: Coverage): string {
  return Object.entries(explained)
    .map(([reason, number]) => `${reason} ${number}`)
    .join(', ')
}

function tellIncomplete(context: Context, incomplete: readonly Coverage[]): void {
  const { out } = context
  const times = timesOf(context)
  for (const one of incomplete) {
    const first = one.unexplained[0] ?? one.unexpected[0]
    const parts = [
      ...(one.unexplainedCount === 0
        ? []
        : [`${count(one.unexplainedCount, 'due instant')} without a record`]),
      ...(one.unexpectedCount === 0
        ? []
        : [`${count(one.unexpectedCount, 'run')} at instants that are not due`]),
    ]
    const example = first === undefined ? '' : `, the first at ${times.exact(first)}`
    out.note(`error: ${one.trigger}: ${parts.join(' and ')}${example}`)
  }
}
