import { helpOption } from './arguments.js'
import type { Command, CommandEntry } from './command.js'
import { type Named, withSubcommands } from './subcommand.js'
import type { Argument, Option } from './syntax.js'

/** The shells that a completion script can be printed for. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** The completion script of all commands for a shell. */
export async function completionScript(
  shell: (typeof shells)[number],
  commands: Readonly<Record<string, CommandEntry<never>>>,
): Promise<string> {
  const known = await Promise.all(
    Object.entries(commands).map(async ([name, { load, summary }]) =>
      withSubcommands(await load(), name).map((one) => knownOf(one, summary)),
    ),
  )
  switch (shell) {
    case 'bash':
      return bashScript(Object.keys(commands), known.flat())
    case 'zsh':
      // zsh can use the functions of bash, so there is only one script.
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(Object.keys(commands), known.flat())}`
    case 'fish':
      return fishScript(known.flat())
  }
}

/** A command or subcommand with its path, such as `round start`. */
interface Known {
  readonly path: string
  readonly summary: string
  readonly options: readonly Option[]
  readonly arguments: readonly Argument[]
  readonly subcommands: readonly string[]
}

function knownOf({ command, path }: Named<Command<never>>, usual: string): Known {
  const { options = [], arguments: expected = [], subcommands = [], summary = usual } = command
  const names = subcommands.map(({ name }) => name)
  return { path, summary, options, arguments: expected, subcommands: names }
}

/** Words are counted without options and their values, so that each position gets its own completions. */
function bashScript(names: readonly string[], known: readonly Known[]): string {
  return `_rota_path() {
  valued="" below=""
  case "$path" in
${known.map(({ path, subcommands, ...one }) => `    "${path}") valued=" ${valuedOptions(one).join(' ')} " below=" ${subcommands.join(' ')} " ;;`).join('\n')}
  esac
}
_rota() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="\${COMP_WORDS[1]}"
  local words="" valued="" below="" position=0 i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "${names.join(' ')}" -- "$word") )
    return
  fi
  _rota_path
  for (( i = 2; i < COMP_CWORD; i++ )); do
    case "\${COMP_WORDS[i]}" in
      --) return ;;
      -?*)
        if [[ "$valued" == *" \${COMP_WORDS[i]} "* ]]; then
          i=$(( i + 1 ))
          if [ "\${COMP_WORDS[i]}" = "=" ]; then i=$(( i + 1 )); fi
        fi ;;
      *)
        if [ "$position" -eq 0 ] && [[ "$below" == *" \${COMP_WORDS[i]} "* ]]; then
          path="$path \${COMP_WORDS[i]}"
          _rota_path
        else
          position=$(( position + 1 ))
        fi ;;
    esac
  done
  case "$path $before" in
${known.flatMap(({ path, options }) => options.flatMap((option) => bashOption(path, option))).join('\n')}
    *)
      if [[ "$word" == -* ]]; then
        case "$path" in
${known.map(({ path, options }) => `          "${path}") words="${optionNames(options).join(' ')}" ;;`).join('\n')}
        esac
      else
        case "$path $position" in
${known.flatMap(bashWords).join('\n')}
        esac
      fi ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
}
complete -o default -F _rota rota`
}

/** The options that take the following word as their value, as they are written. */
function valuedOptions({ options }: Pick<Known, 'options'>): readonly string[] {
  return options.flatMap((option) => (option.value === undefined ? [] : spellings(option)))
}

function spellings({ name, short }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

function optionNames(options: readonly Option[]): readonly string[] {
  return [...options, helpOption].map(({ name }) => `--${name}`)
}

/** The completions of an option's value. */
function bashOption(path: string, option: Option): string[] {
  if (option.value === undefined) return []
  const places = spellings(option).map((spelling) => `"${path} ${spelling}"`)
  return [`    ${places.join('|')}) words="${wordsOf(option, bashNames)}" ;;`]
}

/** The completions of each position of a command. */
function bashWords({ path, arguments: expected, subcommands }: Known): string[] {
  return positions(expected, subcommands).flatMap((argument, position) => {
    const words = wordsOf(argument, bashNames)
    const all = [...(position === 0 ? subcommands : []), words].join(' ').trim()
    return all === '' ? [] : [`          "${path} ${position}") words="${all}" ;;`]
  })
}

/** The arguments of a command; the name of a subcommand takes the first position. */
function positions(
  expected: readonly Argument[],
  subcommands: readonly string[],
): readonly Pick<Argument, 'choices' | 'completes'>[] {
  return expected.length === 0 && subcommands.length > 0 ? [{}] : expected
}

type Names = Readonly<Record<'trigger' | 'job', string>>

/** The completions of an argument or option. */
function wordsOf({ choices, completes }: Pick<Option, 'choices' | 'completes'>, names: Names): string {
  if (choices !== undefined) return choices.join(' ')
  return completes === undefined || completes === 'file' ? '' : names[completes]
}

const bashNames: Names = {
  trigger: '$(rota list --names 2>/dev/null)',
  job: '$(rota list --jobs --names 2>/dev/null)',
}

const fishNames: Names = {
  trigger: '(rota list --names 2>/dev/null)',
  job: '(rota list --jobs --names 2>/dev/null)',
}

function fishScript(known: readonly Known[]): string {
  const lines = known.flatMap((one) => {
    const { path, summary, options, arguments: expected, subcommands } = one
    const names = path.split(' ')
    const name = names.at(-1) ?? ''
    const parent = names.slice(0, -1)
    const where = parent.length === 0 ? '__fish_use_subcommand' : atText(parent.join(' '), 0, one)
    const seen = names.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const words = positions(expected, subcommands).flatMap((argument, position) => {
      const list = wordsOf(argument, fishNames)
      return list === ''
        ? []
        : [`complete -c rota -n '${atText(path, position, one)}' -a ${fishQuoted(list)}`]
    })
    return [
      `complete -c rota -n ${parent.length === 0 ? where : `'${where}'`} -a ${name} -d ${fishQuoted(summary)}`,
      ...[...options, helpOption].map((option) => `complete -c rota -n '${seen}' ${fishOption(option)}`),
      ...words,
    ]
  })
  return [fishPosition, 'complete -c rota -f', ...lines].join('\n')
}

function atText(path: string, position: number, known: Known): string {
  return [`__rota_at "${path}"`, position, ...valuedOptions(known)].join(' ')
}

/** Whether the n-th word of a command is next; the options whose values do not count follow as arguments. */
const fishPosition = `function __rota_at
    set -l tokens (commandline -opc)
    set -l words
    set -l skip 0
    for token in $tokens
        if test $skip -eq 1
            set skip 0
        else if contains -- $token $argv[3..]
            set skip 1
        else if not string match -q -- '-*' $token
            set -a words $token
        end
    end
    set -l last (math (count (string split ' ' -- $argv[1])) + 1)
    test "$words[2..$last]" = "$argv[1]" -a (count $words) -eq (math $argv[2] + $last) -a $skip -eq 0
end`

function fishOption(option: Option): string {
  const { name, short, value, help, completes } = option
  const letter = short === undefined ? '' : ` -s ${short}`
  const list = value === undefined ? '' : wordsOf(option, fishNames)
  const takes = value === undefined ? '' : completes === 'file' ? ' -r -F' : ' -x'
  return `-l ${name}${letter}${takes}${list === '' ? '' : ` -a ${fishQuoted(list)}`} -d ${fishQuoted(help)}`
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
