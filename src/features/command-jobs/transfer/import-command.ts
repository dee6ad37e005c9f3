import { type ImportedLine, lineView } from './import.js'
import type { CommandsApp } from '../jobs-option.js'
import { printable } from '../../../text/printable.js'
import { type Command, type Context, exitCodes, storeOptions } from '../../../cli/framework/command.js'
import { namedFile } from '../../../formats/named-file.js'
import { jobsFileOf, jobsOption } from '../jobs-option.js'

/** `rota import`: adds the jobs of a file to the store. */
export const importCommand: Command<CommandsApp> = {
  name: 'import',
  about:
    'Imports the jobs of a file with one JSON map per line (JSONL), and prints the result of each line: added, unchanged if it exists already, executed if it was executed already and is only kept, conflict if another job has its id, faulty with line and column. Faulty lines are skipped and the others imported, all at once; the exit code is 1 if a line was not imported. With --shell, sh runs the commands: the author of the file can then run programs here.',
  arguments: [{ name: 'file', help: 'the jobs, one per line' }],
  options: [
    { name: 'dry-run', help: 'only show what would happen to each line' },
    { name: 'strict', help: 'import nothing if a line has a fault' },
    { name: 'shell', help: 'run the commands with sh -c' },
    jobsOption,
    ...storeOptions,
  ],
  examples: {
    'rota import jobs.jsonl --dry-run': 'check first',
    'rota import jobs.jsonl': 'import them',
    'rota import crontab.jsonl --shell': 'commands for a shell',
  },
  run: (context) => {
    const { args } = context
    const path = namedFile(context.directory, { holder: '<file>', path: args.word(0), code: 'JOBS_INVALID' })
    const file = jobsFileOf(context)
    const options = { dryRun: args.flag('dry-run'), strict: args.flag('strict'), shell: args.flag('shell') }
    const create = (empty: CommandsApp): Promise<unknown> =>
      empty.commands.import(path, { ...options, dryRun: true })
    return context.withApp(
      async (app) => {
        if (file !== undefined) app.commands.useFile(file)
        const lines = await app.commands.import(path, options)
        context.out.show(lines.map(lineView), () => print(context, lines))
        const isWhole = lines.every(({ became }) => became !== 'faulty' && became !== 'conflict')
        return isWhole ? exitCodes.ok : exitCodes.failed
      },
      args.flag('dry-run') ? { orEmpty: true } : { create },
    )
  },
}

function print({ args, out }: Context<CommandsApp>, lines: readonly ImportedLine[]): void {
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
