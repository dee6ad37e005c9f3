import { readConditions } from '../../wire/run-query/given.js'
import { qualifiers } from '../../wire/run-query/qualifiers.js'
import type { RunQuery } from '../../wire/run-query/run-query.js'
import type { Surroundings } from './command.js'
import type { Option } from './syntax.js'
import { hereOf } from './times-of.js'

const values: Readonly<Record<string, string>> = {
  error: 'code',
  message: 'text',
  due: 'time',
  since: 'time',
  until: 'time',
  late: 'duration',
}

/** The options that select runs; each is also a name in `--filter`. */
export const runFilterOptions: readonly Option[] = [
  ...qualifiers.map(({ name, help, choices, completes, isList }): Option => {
    const hasNames = completes === 'job' || completes === 'trigger'
    return {
      name,
      value: isList === true ? `${name}s` : (values[name] ?? name),
      help: `only runs ${help}`,
      ...(choices === undefined ? {} : { choices, isSeveral: true }),
      ...(hasNames ? { completes } : {}),
      ...(name === 'message' ? { isContent: true } : {}),
    }
  }),
  { name: 'label', value: 'name=value', help: 'only runs with this label', isList: true, isContent: true },
  {
    name: 'filter',
    value: 'text',
    help: 'all conditions as one text: state:failed job:mail error:ECONN* label.customer:42 due:today',
    isContent: true,
  },
]

/** The conditions of the options; throws one error with all faults. */
export async function runConditionsOf(
  context: Surroundings,
  command: string,
): Promise<RunQuery['conditions']> {
  const { args } = context
  const given = runFilterOptions.flatMap(({ name }) =>
    name === 'filter' ? [] : args.list(name).map((text) => ({ name, text, place: `--${name}` })),
  )
  const filter = args.text('filter')
  const query = filter === undefined ? undefined : { text: filter, place: '--filter' }
  const { conditions, faults } = readConditions(given, query, hereOf(context))
  if (faults.length === 0) return conditions
  const { usageError } = await import('./usage-error.js')
  throw usageError(faults, `see \`rota ${command} --help\``)
}

/** The same options as the text of one filter. */
export function runFilterText({ args }: Surroundings): string {
  const terms = runFilterOptions.flatMap(({ name }) => args.list(name).map((text) => termText(name, text)))
  return terms.join(' ')
}

function termText(name: string, text: string): string {
  if (name === 'filter') return text
  const equals = text.indexOf('=')
  if (name === 'label') return `label.${text.slice(0, equals)}:${quoted(text.slice(equals + 1))}`
  const isList = qualifiers.find((one) => one.name === name)?.isList === true
  return `${name}:${(isList ? text.split(',') : [text]).map(quoted).join(',')}`
}

function quoted(value: string): string {
  return /^[^\s,"]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** Whether any of the options was given. */
export function hasRunFilter({ args }: Surroundings): boolean {
  return runFilterOptions.some(({ name }) => args.flag(name))
}
