import { helpOption } from './arguments.js'
import type { Command, Example } from './command.js'
import type { Argument, Option } from './syntax.js'
import type { CommandEntry } from './commands.js'
import { wrap } from './wrap.js'

/** The help of the whole program. */
export function programHelp(commands: Readonly<Record<string, CommandEntry>>): string[] {
  return [
    'rota: a durable scheduler',
    '',
    'usage: rota <command> [options]',
    '',
    'commands:',
    ...pairs(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    'examples:',
    ...exampleLines([
      { line: 'rota init', meaning: 'write a config that runs' },
      { line: 'rota up', meaning: 'start it and watch' },
      { line: "rota next '0 9 * * MON-FRI' --zone Europe/Berlin", meaning: 'see when that is' },
    ]),
    '',
    '`rota <command> --help` shows what it takes; `rota --version` the version.',
    '',
    ...exitCodeLines,
  ]
}

/** The help of one command. */
export function commandHelp(command: Command): string[] {
  const { about, examples } = command
  const args = command.arguments.map((argument): Pair => [argumentText(argument), argument.help])
  const options = [...command.options, helpOption].map(
    (option): Pair => [optionText(option), optionHelp(option)],
  )
  return [
    `usage: ${usage(command)}`,
    ...(about === undefined ? [] : ['', ...wrap(about, helpWidth)]),
    ...(args.length === 0 ? [] : ['', 'arguments:', ...pairs(args)]),
    '',
    'options:',
    ...pairs(options),
    '',
    'examples:',
    ...exampleLines(examples),
  ]
}

type Pair = readonly [name: string, meaning: string]

const helpWidth = 80

const exitCodeLines = [
  'exit codes: 0 done; 1 it failed; 2 refused (usage, definition, config); 3 the',
  'store cannot be used; 70 internal; 74 input or output; 128+n ended by signal n',
]

function usage({ name, arguments: args, rest }: Command): string {
  const words = args.map(argumentText)
  const after = rest === undefined ? [] : [`[-- ${rest}]`]
  return ['rota', name, ...words, '[options]', ...after].join(' ')
}

function argumentText({ name, isOptional }: Argument): string {
  return isOptional === true ? `[${name}]` : `<${name}>`
}

function optionText({ name, short, value }: Option): string {
  const long = `${short === undefined ? '' : `-${short}, `}--${name}`
  return value === undefined ? long : `${long} <${value}>`
}

function optionHelp({ help, choices, isList }: Option): string {
  const words = choices === undefined ? '' : ` (${choices.join(', ')})`
  return `${help}${words}${isList === true ? '; may be repeated' : ''}`
}

/** Names on the left, meanings on the right, wrapped under themselves. */
function pairs(list: readonly Pair[]): string[] {
  const left = Math.min(26, Math.max(...list.map(([name]) => name.length)))
  return list.flatMap(([name, meaning]) => {
    const lines = wrap(meaning, helpWidth - left - 4)
    const first = name.length > left ? [`  ${name}`] : []
    const labelled = lines.map((line, index) => {
      const label = index === 0 && first.length === 0 ? name : ''
      return `  ${label.padEnd(left)}  ${line}`
    })
    return [...first, ...labelled]
  })
}

function exampleLines(examples: readonly Example[]): string[] {
  return examples.flatMap(({ line, meaning }) => [`  ${line}`, `      ${meaning}`])
}
