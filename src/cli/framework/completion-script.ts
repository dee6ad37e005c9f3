import { helpOption } from './arguments.js'
import type { Command } from './command.js'
import type { Argument, Option } from './syntax.js'
import { commands } from '../commands.js'

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

/** Words are counted without options and their values, so that each gets what its own position expects. */
function bashScript(known: readonly Known[]): string {
  const names = known.map(({ command }) => command.name).join(' ')
  return `_rota() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" valued="" position=0 i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "${names}" -- "$word") )
    return
  fi
  case "\${COMP_WORDS[1]}" in
${known.map(({ command }) => `    ${command.name}) valued=" ${valuedOptions(command).join(' ')} " ;;`).join('\n')}
  esac
  for (( i = 2; i < COMP_CWORD; i++ )); do
    case "\${COMP_WORDS[i]}" in
      --) return ;;
      -?*)
        if [[ "$valued" == *" \${COMP_WORDS[i]} "* ]]; then
          i=$(( i + 1 ))
          if [ "\${COMP_WORDS[i]}" = "=" ]; then i=$(( i + 1 )); fi
        fi ;;
      *) position=$(( position + 1 )) ;;
    esac
  done
  case "\${COMP_WORDS[1]} $before" in
${known.flatMap(({ command }) => command.options.flatMap((option) => bashOption(command, option))).join('\n')}
    *)
      if [[ "$word" == -* ]]; then
        case "\${COMP_WORDS[1]}" in
${known.map(({ command }) => `          ${command.name}) words="${optionNames(command).join(' ')}" ;;`).join('\n')}
        esac
      else
        case "\${COMP_WORDS[1]} $position" in
${known.flatMap(({ command }) => bashWords(command)).join('\n')}
        esac
      fi ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
}
complete -o default -F _rota rota`
}

/** The options that the word behind belongs to, as they are written. */
function valuedOptions({ options }: Command): readonly string[] {
  return options.flatMap((option) => (option.value === undefined ? [] : spellings(option)))
}

function spellings({ name, short }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

function optionNames({ options }: Command): readonly string[] {
  return [...options, helpOption].map(({ name }) => `--${name}`)
}

/** What follows an option that takes a value. */
function bashOption(command: Command, option: Option): string[] {
  if (option.value === undefined) return []
  const words =
    option.choices?.join(' ') ?? wordsOf(option.completes === 'file' ? undefined : option.completes)
  const places = spellings(option).map((spelling) => `"${command.name} ${spelling}"`)
  return [`    ${places.join('|')}) words="${words}" ;;`]
}

/** What each position of a command expects. */
function bashWords({ name, arguments: expected }: Command): string[] {
  return expected.flatMap(({ completes }, position) => {
    const words = wordsOf(completes)
    return words === '' ? [] : [`          "${name} ${position}") words="${words}" ;;`]
  })
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
    const words = command.arguments.flatMap(({ completes }, position) => {
      const list = fishWords(completes)
      const at = ['__rota_at', command.name, position, ...valuedOptions(command)].join(' ')
      return list === '' ? [] : [`complete -c rota -n '${at}' -a ${list}`]
    })
    return [
      `complete -c rota -n __fish_use_subcommand -a ${command.name} -d ${fishQuoted(summary)}`,
      ...options,
      ...words,
    ]
  })
  return [fishPosition, 'complete -c rota -f', ...lines].join('\n')
}

/** Whether a command's word of a number is next; the options whose values do not count are named behind it. */
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
    test "$words[2]" = "$argv[1]" -a (count $words) -eq (math $argv[2] + 2) -a $skip -eq 0
end`

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
