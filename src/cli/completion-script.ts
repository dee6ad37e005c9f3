import { helpOption } from './arguments.js'
import type { Command } from './command.js'
import type { Argument, Option } from './syntax.js'
import { commands } from './commands.js'

/** The script that teaches a shell the commands as they are declared. */
export async function completionScript(shell: 'bash' | 'zsh' | 'fish'): Promise<string> {
  const loaded = await Promise.all(
    Object.values(commands).map(
      async (entry): Promise<Known> => ({ command: await entry.load(), summary: entry.summary }),
    ),
  )
  switch (shell) {
    case 'bash':
      return bashScript(loaded)
    case 'zsh':
      // zsh reads the functions of bash; so there is one script to keep right.
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(loaded)}`
    case 'fish':
      return fishScript(loaded)
  }
}

interface Known {
  readonly command: Command
  readonly summary: string
}

function bashScript(known: readonly Known[]): string {
  const names = known.map(({ command }) => command.name).join(' ')
  return `_rota() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "${names}" -- "$word") )
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${known.flatMap(({ command }) => command.options.flatMap((option) => bashOption(command, option))).join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${known.map(({ command }) => bashCommand(command)).join('\n')}
      esac ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
}
complete -o default -F _rota rota`
}

/** What follows an option that takes a value. */
function bashOption(command: Command, option: Option): string[] {
  if (option.value === undefined) return []
  const words =
    option.choices?.join(' ') ?? wordsOf(option.completes === 'file' ? undefined : option.completes)
  return [`    "${command.name} --${option.name}") words="${words}" ;;`]
}

function bashCommand(command: Command): string {
  const options = [...command.options, helpOption].map(({ name }) => `--${name}`).join(' ')
  const words = command.arguments
    .map(({ completes }) => wordsOf(completes))
    .join(' ')
    .trim()
  return `        ${command.name}) if [[ "$word" == -* ]]; then words="${options}"; else words="${words}"; fi ;;`
}

function wordsOf(completes: Argument['completes']): string {
  switch (completes) {
    case undefined:
      return ''
    case 'trigger':
      return '$(rota list --names 2>/dev/null)'
    case 'job':
      return '$(rota list --jobs --names 2>/dev/null)'
    default:
      return completes.join(' ')
  }
}

function fishScript(known: readonly Known[]): string {
  const lines = known.flatMap(({ command, summary }) => {
    const after = `-n '__fish_seen_subcommand_from ${command.name}'`
    const options = [...command.options, helpOption].map(
      (option) => `complete -c rota ${after} ${fishOption(option)}`,
    )
    const words = command.arguments.map(({ completes }) => fishWords(completes)).filter((list) => list !== '')
    return [
      `complete -c rota -n __fish_use_subcommand -a ${command.name} -d ${fishQuoted(summary)}`,
      ...options,
      ...words.map((list) => `complete -c rota ${after} -a ${list}`),
    ]
  })
  return ['complete -c rota -f', ...lines].join('\n')
}

function fishOption({ name, short, value, help, choices, completes }: Option): string {
  const letter = short === undefined ? '' : ` -s ${short}`
  const list =
    choices === undefined
      ? fishWords(completes === 'file' ? undefined : completes)
      : fishQuoted(choices.join(' '))
  const takes = value === undefined ? '' : completes === 'file' ? ' -r -F' : ' -x'
  return `-l ${name}${letter}${takes}${list === '' || value === undefined ? '' : ` -a ${list}`} -d ${fishQuoted(help)}`
}

function fishWords(completes: Argument['completes']): string {
  switch (completes) {
    case undefined:
      return ''
    case 'trigger':
      return "'(rota list --names 2>/dev/null)'"
    case 'job':
      return "'(rota list --jobs --names 2>/dev/null)'"
    default:
      return fishQuoted(completes.join(' '))
  }
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
