import type { ImportedLine } from './import.js'
import type { Rota } from '../../app/rota.js'
import { printable } from '../../text/printable.js'
import { type Command, type Context, exitCodes, storeOptions } from '../../cli/framework/command.js'
import { namedFile } from '../../formats/named-file.js'
import { withApp } from '../../cli/host/with-app.js'
import { jobsFileOf, jobsOption } from './jobs-option.js'

/** `rota import`: takes the jobs of a file into the store. */
export const importCommand: Command = {
  name: 'import',
  about:
    'Adds the jobs of a file with one JSON map a line (JSONL), and says what became of each line: added, unchanged where it is there already, executed where it was executed already and is only kept, conflict where another job has its id, faulty with line and column. Faulty lines are left alone and the others are taken, all in one go; the exit code is 1 where a line was not taken. With --shell, commands are lines for sh: whoever wrote the file then runs programs here.',
  arguments: [{ name: 'file', help: 'the jobs, one a line' }],
  options: [
    { name: 'dry-run', help: 'only say what would become of each line' },
    { name: 'strict', help: 'take nothing where a line has a fault' },
    { name: 'shell', help: 'the commands are lines for sh -c' },
    jobsOption,
    ...storeOptions,
  ],
  examples: [
    { line: 'rota import jobs.jsonl --dry-run', meaning: 'look first' },
    { line: 'rota import jobs.jsonl', meaning: 'take them' },
    { line: 'rota import crontab.jsonl --shell', meaning: 'commands for a shell' },
  ],
  run: (context) => {
    const { args } = context
    const path = namedFile(context, { holder: '<file>', path: args.word(0), code: 'JOBS_INVALID' })
    const file = jobsFileOf(context)
    const options = { dryRun: args.flag('dry-run'), strict: args.flag('strict'), shell: args.flag('shell') }
    const create = (empty: Rota): Promise<unknown> =>
      empty.commands.import(path, { ...options, dryRun: true })
    return withApp(
      context,
      async (app) => {
        if (file !== undefined) app.commands.useFile(file)
        const lines = await app.commands.import(path, options)
        if (args.flag('json')) context.out.json(lines.map(lineView))
        else print(context, lines)
        const isWhole = lines.every(({ became }) => became !== 'faulty' && became !== 'conflict')
        return isWhole ? exitCodes.ok : exitCodes.failed
      },
      args.flag('dry-run') ? { orEmpty: true } : { create },
    )
  },
}

function lineView({ line, id, became, faults, source }: ImportedLine) {
  return {
    line,
    id: id ?? null,
    became,
    source: source ?? null,
    faults: faults.map(({ column, path, message, allowed }) => ({
      line,
      column,
      path,
      message,
      allowed: allowed ?? null,
    })),
  }
}

function print({ args, out }: Context, lines: readonly ImportedLine[]): void {
  const paints = { faulty: out.colors.red, conflict: out.colors.yellow, added: out.colors.green }
  for (const { line, id, became, faults, source } of lines) {
    const paint = became in paints ? paints[became as keyof typeof paints] : out.colors.dim
    const whose = source === undefined ? '' : `: ${source} has this id`
    out.line(
      `${String(line).padStart(4)}  ${paint(became.padEnd(9))}  ${printable(`${id ?? ''}${whose}`)}`.trimEnd(),
    )
    for (const fault of faults) {
      const place = fault.path === '' ? '' : `${fault.path}: `
      const allowed = fault.allowed === undefined ? '' : ` (allowed: ${fault.allowed})`
      out.line(printable(`      ${line}:${fault.column}: ${place}${fault.message}${allowed}`))
    }
  }
  const counts = new Map<string, number>()
  for (const { became } of lines) counts.set(became, (counts.get(became) ?? 0) + 1)
  const sum = [...counts].map(([became, n]) => `${n} ${became}`).join(', ')
  out.say(`${sum === '' ? 'no jobs' : sum}${args.flag('dry-run') ? '; nothing was changed' : ''}`)
}
