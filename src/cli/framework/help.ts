import { helpOption } from './arguments.js'
import { type Command, type CommandEntry, commandGroups, type Examples } from './command.js'
import { wrap } from './print/wrap.js'
import type { Argument, Option } from './syntax.js'

/** The help of the whole program: its commands, by group. */
export function programHelp(
  commands: Readonly<Record<string, CommandEntry<never>>>,
  width = usualWidth,
): string[] {
  const names = Object.keys(commands)
  const left = Math.max(...names.map((name) => name.length))
  const groups = Object.entries(commandGroups).flatMap(([group, title]) => {
    const own = Object.entries(commands).filter(([, entry]) => entry.group === group)
    const list = own.map(([name, { summary }]): Pair => [name, summary])
    return list.length === 0 ? [] : ['', `${title}:`, ...pairs(list, width, left)]
  })
  return [
    'rota: a durable scheduler',
    '',
    'usage: rota <command> [options]',
    ...groups,
    '',
    'examples:',
    ...exampleLines({
      'rota init': 'write a config that runs',
      'rota up': 'start it and watch',
      "rota next '0 9 * * MON-FRI' --zone Europe/Berlin": 'see when that is due',
    }),
    '',
    ...wrap('`rota <command> --help` shows the options of a command, `rota --version` the version.', width),
    '',
    ...wrap(exitCodeText, width),
  ]
}

/** The help of one command, or of a subcommand; the path names it, such as `round start`. */
export function commandHelp(command: Command<never>, path: string, width = usualWidth): string[] {
  const { about, examples, subcommands = [] } = command
  const args = (command.arguments ?? []).map((one): Pair => [argumentText(one), argumentHelp(one)])
  const options = [...(command.options ?? []), helpOption].map(
    (option): Pair => [optionText(option), optionHelp(option)],
  )
  const list = subcommands.map(({ name, summary = '' }): Pair => [name, summary])
  return [
    ...usages(command, path).flatMap((line, index) =>
      wrap(`${index === 0 ? 'usage:' : '      '} ${line}`, width),
    ),
    ...(about === undefined ? [] : ['', ...wrap(about, width)]),
    ...(list.length === 0 ? [] : ['', 'subcommands:', ...pairs(list, width)]),
    ...(args.length === 0 ? [] : ['', 'arguments:', ...pairs(args, width)]),
    '',
    'options:',
    ...pairs(options, width),
    ...(examples === undefined ? [] : ['', 'examples:', ...exampleLines(examples)]),
    ...(list.length === 0
      ? []
      : ['', ...wrap(`\`rota ${path} <subcommand> --help\` shows the options of a subcommand.`, width)]),
  ]
}

/** The usage lines of a command: its own, if it has an action, and those of its subcommands. */
export function usages(command: Command<never>, path: string): readonly string[] {
  const { arguments: args = [], rest, run, subcommands } = command
  const after = rest === undefined ? [] : [`[-- ${rest}]`]
  const own = ['rota', path, ...argumentTexts(args), '[options]', ...after].join(' ')
  const below = `rota ${path} <subcommand> [options]`
  return [...(run === undefined ? [] : [own]), ...(subcommands === undefined ? [] : [below])]
}

type Pair = readonly [name: string, meaning: string]

const usualWidth = 80

const exitCodeText =
  'exit codes: 0 done; 1 failed; 2 refused (usage, definition, config); 3 the store cannot be used; 70 internal error; 74 input or output failed; 128+n ended by signal n'

/** A required argument after an optional one is inside its brackets. */
function argumentTexts(args: readonly Argument[]): readonly string[] {
  const optional = args.findIndex(({ isOptional }) => isOptional === true)
  const isPair = optional !== -1 && args.slice(optional + 1).some(({ isOptional }) => isOptional !== true)
  if (!isPair) return args.map(argumentText)
  const together = args.slice(optional).map(({ name }) => `<${name}>`)
  return [...args.slice(0, optional).map(argumentText), `[${together.join(' ')}]`]
}

/** An argument in a usage line. */
export function argumentText({ name, isOptional }: Argument): string {
  return isOptional === true ? `[${name}]` : `<${name}>`
}

/** The help of an argument, with its choices. */
export function argumentHelp({ help, choices }: Argument): string {
  return `${help}${choicesText(choices)}`
}

/** An option with its short form and its value. */
export function optionText({ name, short, value }: Option): string {
  const long = `${short === undefined ? '' : `-${short}, `}--${name}`
  return value === undefined ? long : `${long} <${value}>`
}

/** The help of an option, with its choices. */
export function optionHelp({ help, choices, isList, isRequired }: Option): string {
  const required = isRequired === true ? '; required' : ''
  return `${help}${choicesText(choices)}${isList === true ? '; may be repeated' : ''}${required}`
}

function choicesText(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` (${choices.join(', ')})`
}

/** Names on the left, meanings on the right, wrapped under themselves. */
function pairs(list: readonly Pair[], width: number, least = 0): string[] {
  const widest = Math.max(least, ...list.map(([name]) => name.length))
  const left = Math.min(Math.floor(width / 3), widest)
  return list.flatMap(([name, meaning]) => {
    const lines = wrap(meaning, width - left - 4)
    const first = name.length > left ? [`  ${name}`] : []
    const labelled = lines.map((line, index) => {
      const label = index === 0 && first.length === 0 ? name : ''
      return `  ${label.padEnd(left)}  ${line}`
    })
    return [...first, ...labelled]
  })
}

function exampleLines(examples: Examples): string[] {
  return Object.entries(examples).flatMap(([line, meaning]) => [`  ${line}`, `      ${meaning}`])
}
