// Writes docs/reference/cli.md from the commands as they declare themselves; `npm run docs:cli` after a change of them.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commands } from '../dist/cli/commands.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const opening = `# Commands

\`rota <command> [options]\`. \`rota --help\` lists the commands, \`rota <command> --help\` shows what one takes, \`rota --version\` prints the version.

Which store a command means, the first that is said wins: \`--store\`, the variable \`ROTA_STORE\`, the \`store\` of the config (\`--config\`, else \`rota.config.*\` in the working directory or the nearest directory above it), \`sqlite:data/rota.db\`. The search ends at the home directory or the root. A command that uses a config from above names it on standard error; one that belongs to another user is refused. Relative paths of a config start at its directory, those of the command line at the working directory.

A time is \`now\`, \`yesterday\`, \`today\`, \`tomorrow\` or \`2026-01-05\` (the beginning of that day), \`-2h\` or \`+5m\` (any duration, from now), \`09:30\` or \`09:30:15\` (today), \`2026-01-05T09:00\` (in \`--zone\`), \`2026-01-05T09:00:00Z\` or \`2026-01-05T09:00:00+07:00\`. A length without a sign lies where the question suggests: \`--since 2h\` is two hours ago, \`--until 2h\` is in two hours. A duration is written as in the [config](config.md#durations). Wherever a run is asked for, the beginning of its id (at least 4 characters) is enough if it fits one run only.

\`--json\` prints JSON on standard output, and errors as JSON on standard error. Colours only appear on a terminal, and not where \`NO_COLOR\` is set. Tables and help fit the width of the terminal; elsewhere \`COLUMNS\`, else 80. Messages wrap at words on a terminal and are one line each elsewhere.

A refusal is one line that names the option or argument, shows its value shortened and escaped, and says what is allowed. Names, paths, ids and times may not be empty, longer than 4096 characters or contain control characters. A name that does not exist gets the nearest one that does ("did you mean").

A command whose output cannot be written still does its work. If the disk of its standard output is full, it warns on standard error and ends with 74 (\`schedule\`, \`work\` and \`queue\` with 3) instead of 0. A reader that leaves early, such as \`head\`, changes no exit code; \`logs --follow\` and \`runs --watch\` then end.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed: the run, the coverage, a check |
| 2 | refused: usage, a definition, a config |
| 3 | the store cannot be used: every code that begins with \`STORE_\`, except \`STORE_IO\` |
| 70 | an error inside Rota, one that nobody caught and that belongs to no run, or a handler that called \`process.exit\` |
| 74 | input or output failed; \`STORE_IO\` |
| 128+n | ended by signal n |

| variable | meaning |
|---|---|
| \`ROTA_STORE\` | the store, where \`--store\` is not given |
| \`PIPELINE_ENABLED\` | off: \`rota up\` reads, writes and starts nothing |
| \`SCHEDULER_ENABLED\` | off: \`rota up\` plans nothing |
| \`WORKER_ENABLED\` | off: \`rota up\` performs nothing |
| \`ROTA_DEBUG=1\` | errors are printed with their stack |
| \`NO_COLOR\` | no colours |
| \`COLUMNS\` | how wide the output is, where it is no terminal |
`

const parts = [opening]
for (const [name, { summary, load }] of Object.entries(commands))
  parts.push(section(name, summary, await load()))
writeFileSync(join(root, 'docs', 'reference', 'cli.md'), `${parts.join('\n').trimEnd()}\n`)

function section(name, summary, command) {
  const words = command.arguments.map((one) => (one.isOptional ? `[${one.name}]` : `<${one.name}>`))
  const rest = command.rest === undefined ? [] : [`[-- ${command.rest}]`]
  const usage = ['rota', name, ...words, ...(command.options.length > 0 ? ['[options]'] : []), ...rest].join(
    ' ',
  )
  const lines = [`## rota ${name}`, '', command.about ?? `${summary}.`, '', '```sh', usage]
  for (const { line, meaning } of command.examples) lines.push(`${line}  # ${meaning}`)
  lines.push('```', '')
  const rows = [
    ...command.arguments.map((one, index) => [`\`${words[index]}\``, one.help]),
    ...command.options.map((one) => [`\`${optionText(one)}\``, one.help + detailText(one)]),
  ]
  if (rows.length === 0) return lines.join('\n')
  lines.push('| | |', '|---|---|', ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`), '')
  return lines.join('\n')
}

function optionText({ name, short, value }) {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`
}

function detailText({ choices, isList }) {
  const allowed = choices === undefined ? '' : ` (${choices.join(', ')})`
  return `${allowed}${isList === true ? '; may be repeated' : ''}`
}

function cell(text) {
  return text.replaceAll('|', '\\|')
}
