import type { CheckedPlan } from '../../app/plans/check-plan.js'
import { formatInstant, systemClock } from '../../app/times.js'
import { chosenWord } from '../actions.js'
import { type Command, type Context, exitCodes, jsonOption } from '../command.js'
import { printTable } from '../table.js'

/** `rota plan`: shows what a plan file comes to. */
export const plan: Command = {
  name: 'plan',
  about:
    'Checks a plan file and the pipeline files of what is still to come, and shows its entries: when each is due, in the plan’s zone and in UTC, its id, and whether it is in the future, due (within the last 24 hours) or missed. Nothing is written. All faults are listed at once, with line and column.',
  arguments: [
    { name: 'action', help: 'check', completes: ['check'] },
    { name: 'file', help: 'a plan in YAML' },
  ],
  options: [jsonOption],
  examples: [
    { line: 'rota plan check schedule_plan.yaml', meaning: 'look before it counts' },
    { line: 'rota plan check schedule_plan.yaml --json', meaning: 'with run ids and params' },
  ],
  run: async (context) => {
    const { args, out, directory } = context
    const path = args.word(1)
    chosenWord(args.word(0), { command: 'plan', known: ['check'] })
    const { checkPlan } = await import('../../app/plans/check-plan.js')
    const checked = await checkPlan(path, { directory, now: systemClock.now() })
    if (args.flag('json')) out.json(view(path, checked))
    else print(context, checked)
    return exitCodes.ok
  },
}

function view(path: string, { timezone, entries }: CheckedPlan): unknown {
  return {
    path,
    timezone,
    entries: entries.map((entry) => ({
      publishAt: entry.publishAt,
      dueAt: formatInstant(entry.dueAt),
      local: entry.local,
      standing: entry.standing,
      pipelinePath: entry.pipelinePath,
      jobId: entry.jobId,
      runId: entry.runId,
      runIdBase: entry.runIdBase,
      params: entry.params ?? null,
    })),
  }
}

function print({ out }: Context, { timezone, entries }: CheckedPlan): void {
  const { dim, yellow } = out.colors
  const paints = { future: (text: string) => text, due: yellow, missed: dim }
  if (entries.length > 0) {
    printTable(out, entries, [
      {
        title: timezone,
        text: ({ local }) => `${local.slice(0, 10)} ${local.slice(11, 19)} ${local.slice(19)}`,
      },
      { title: 'UTC', text: ({ dueAt }) => formatInstant(dueAt) },
      { title: '', text: ({ standing }) => standing, paint: ({ standing }) => paints[standing] },
      { title: 'JOB ID', text: ({ jobId }) => jobId },
      { title: 'PIPELINE', text: ({ pipelinePath }) => pipelinePath, shortest: 8 },
    ])
    out.line()
  }
  out.line(`${summaryOf(entries)}; no fault`)
}

function summaryOf(entries: CheckedPlan['entries']): string {
  const words = entries.length === 1 ? '1 entry' : `${entries.length} entries`
  const parts = (['future', 'due', 'missed'] as const).flatMap((standing) => {
    const found = entries.filter((entry) => entry.standing === standing).length
    return found === 0 ? [] : [`${found} ${standing}`]
  })
  return parts.length === 0 ? words : `${words} (${parts.join(', ')})`
}
