import { helpOption } from './arguments.js'
import type { Command, Example } from './command.js'
import type { Argument, Option } from './syntax.js'
import type { CommandEntry } from '../commands.js'
import { wrap } from './print/wrap.js'

/** The help of the whole program. */
export function programHelp(commands: Readonly<Record<string, CommandEntry>>, width = usualWidth): string[] {
  return [
    'rota: a durable scheduler',
    '',
    'usage: rota <command> [options]',
    '',
    'commands:',
    ...pairs(
      Object.entries(commands).map(([name, { summary }]) => [name, summary]),
      width,
    ),
    '',
    'examples:',
    ...exampleLines([
      { line: 'rota init', meaning: 'write a config that runs' },
      { line: 'rota up', meaning: 'start it and watch' },
      { line: "rota next '0 9 * * MON-FRI' --zone Europe/Berlin", meaning: 'see when that is' },
    ]),
    '',
    ...wrap('`rota <command> --help` shows what it takes; `rota --version` the version.', width),
    '',
    ...wrap(exitCodeText, width),
  ]
}

/** The help of one command. */
export function commandHelp(command: Command, width = usualWidth): string[] {
  const { about, examples } = command
  const args = command.arguments.map((argument): Pair => [argumentText(argument), argument.help])
  const options = [...command.options, helpOption].map(
    (option): Pair => [optionText(option), optionHelp(option)],
  )
  return [
    ...wrap(`usage: ${usage(command)}`, width),
    ...(about === undefined ? [] : ['', ...wrap(about, width)]),
    ...(args.length === 0 ? [] : ['', 'arguments:', ...pairs(args, width)]),
    '',
    'options:',
    ...pairs(options, width),
    '',
    'examples:',
    ...exampleLines(examples),
  ]
}

type Pair = readonly [name: string, meaning: string]

const usualWidth = 80

const exitCodeText =
  'exit codes: 0 done; 1 it failed; 2 refused (usage, definition, config); 3 the store cannot be used; 70 internal; 74 input or output; 128+n ended by signal n'

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
function pairs(list: readonly Pair[], width: number): string[] {
  const left = Math.min(Math.floor(width / 3), Math.max(...list.map(([name]) => name.length)))
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

function exampleLines(examples: readonly Example[]): string[] {
  return examples.flatMap(({ line, meaning }) => [`  ${line}`, `      ${meaning}`])
}
