// Writes docs/reference/cli.md from the declarations of the commands. Run `npm run docs:cli` when you change a command.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { program } from '../dist/cli/commands.js'
import { commandGroups } from '../dist/cli/framework/command.js'
import { argumentHelp, argumentText, optionHelp, optionText, usages } from '../dist/cli/framework/help.js'
import { withSubcommands } from '../dist/cli/framework/subcommand.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const opening = `# Commands

\`rota <command> [options]\`. \`rota --help\` lists the commands, \`rota <command> --help\` explains one, \`rota --version\` prints the version.

## Which store does a command use?

The first of these that is set:

1. \`--store\`
2. the variable \`ROTA_STORE\`
3. \`store\` in the config: the file of \`--config\`, or \`rota.config.*\` in the working directory or the nearest directory above it
4. \`sqlite:data/rota.db\`

The search for a config ends at the home directory or the root. A command that uses a config from a directory above prints its path on standard error. Rota refuses a config that belongs to another user. Relative paths in a config start at its directory; relative paths on the command line start at the working directory.

## How are times written?

| text | meaning |
|---|---|
| \`now\`, \`yesterday\`, \`today\`, \`tomorrow\`, \`2026-01-05\` | now, or the beginning of that day |
| \`-2h\`, \`+5m\` | a duration before or after now |
| \`09:30\`, \`09:30:15\` | today at that time |
| \`2026-01-05T09:00\` | a local time in \`--zone\` |
| \`2026-01-05T09:00:00Z\`, \`2026-01-05T09:00:00+07:00\` | an instant |

A duration without a sign is in the direction that the option implies: \`--since 2h\` is two hours ago, \`--until 2h\` is in two hours. Durations are written as in the [config](config.md#durations).

For a run you can give the beginning of its id: at least 4 characters, if only one run matches.

## Output

\`--json\` prints JSON on standard output, and errors as JSON on standard error. Colours appear only on a terminal, and not if \`NO_COLOR\` is set. Tables and help fit the width of the terminal; without a terminal, \`COLUMNS\` or 80. On a terminal, messages wrap at words; elsewhere each message is one line.

An error message is one line. It names the option or argument, shows the value (shortened and escaped), and says what is allowed. Names, paths, ids and times must not be empty, must not exceed 4096 characters and must not contain control characters. For an unknown name, the message suggests the most similar one ("did you mean").

A command does its work even if its output cannot be written. If the disk of its standard output is full, it prints a warning on standard error and exits with 74 (\`schedule\`, \`work\` and \`queue\`: 3) instead of 0. A reader that closes early, such as \`head\`, changes no exit code; \`logs --follow\` and \`runs --watch\` then end.

## Exit codes

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | failure: of the run, the coverage or a check |
| 2 | refused: wrong usage, a faulty definition or config |
| 3 | the store cannot be used: every code that begins with \`STORE_\`, except \`STORE_IO\` |
| 70 | an error inside Rota, an uncaught error that belongs to no run, or a handler that called \`process.exit\` |
| 74 | input or output failed; \`STORE_IO\` |
| 128+n | ended by signal n |

## Environment variables

| variable | meaning |
|---|---|
| \`ROTA_STORE\` | the store, if \`--store\` is not given |
| \`PIPELINE_ENABLED\` | off: \`rota up\` reads, writes and starts nothing |
| \`SCHEDULER_ENABLED\` | off: \`rota up\` plans nothing |
| \`WORKER_ENABLED\` | off: \`rota up\` performs nothing |
| \`ROTA_DEBUG=1\` | errors are printed with their stack |
| \`NO_COLOR\` | no colours |
| \`COLUMNS\` | the width of the output without a terminal |
`

const commands = await program.commands()
const parts = [opening]
for (const [group, title] of Object.entries(commandGroups)) {
  parts.push(`## ${title[0].toUpperCase()}${title.slice(1)}\n`)
  const own = Object.entries(commands).filter(([, entry]) => entry.group === group)
  for (const [name, { summary, load }] of own) {
    for (const one of withSubcommands(await load(), name)) parts.push(section(one, summary))
  }
}
writeFileSync(join(root, 'docs', 'reference', 'cli.md'), `${parts.join('\n').trimEnd()}\n`)

function section({ command, path }, usual) {
  const { summary = usual, about = sentence(summary), examples = {}, subcommands = [] } = command
  const { arguments: words = [], options = [] } = command
  const level = '#'.repeat(path.split(' ').length === 1 ? 3 : 4)
  const lines = [`${level} rota ${path}`, '', about, '', '```sh', ...usages(command, path)]
  for (const [line, meaning] of Object.entries(examples)) lines.push(`${line}  # ${meaning}`)
  lines.push('```', '')
  const rows = [
    ...subcommands.map((one) => [`\`${one.name}\``, one.summary ?? '']),
    ...words.map((one) => [`\`${argumentText(one)}\``, argumentHelp(one)]),
    ...options.map((one) => [`\`${optionText(one)}\``, optionHelp(one)]),
  ]
  if (rows.length === 0) return lines.join('\n')
  lines.push('| | |', '|---|---|', ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`), '')
  return lines.join('\n')
}

function sentence(summary) {
  return `${summary[0].toUpperCase()}${summary.slice(1)}.`
}

function cell(text) {
  return text.replaceAll('|', '\\|')
}
