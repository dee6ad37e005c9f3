import { describe, expect, it } from 'vitest'
import { parseArguments } from './arguments.js'
import type { Command } from './command.js'

const command: Command = {
  name: 'test',
  arguments: [
    { name: 'first', help: 'the first word' },
    { name: 'second', help: 'the second', isOptional: true },
  ],
  options: [
    { name: 'flag', short: 'f', help: '' },
    { name: 'text', value: 'text', help: '' },
    { name: 'list', value: 'item', help: '', isList: true },
    { name: 'count', short: 'n', value: 'n', help: '', whole: { min: -5, max: 5 } },
    { name: 'kind', value: 'kind', help: '', choices: ['red', 'green'] },
  ],
  examples: [],
  run: async () => 0,
}

/** What is wrong with a command line, one line per fault. */
async function faultsOf(...argv: string[]): Promise<string[]> {
  try {
    await parseArguments(command, argv)
  } catch (error) {
    const { faults } = error as { faults: { path: string; message: string }[] }
    return faults.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

describe('a command line', () => {
  it('may have its options anywhere, with or without an equals sign', async () => {
    const args = await parseArguments(command, [
      '--text=a=b',
      'one',
      '-f',
      '-n',
      '-3',
      'two',
      '--list',
      'x',
      '--list',
      'y',
    ])
    expect([args.word(0), args.optionalWord(1), args.optionalWord(2)]).toEqual(['one', 'two', undefined])
    expect([args.text('text'), args.flag('flag'), args.whole('count')]).toEqual(['a=b', true, -3])
    expect([args.list('list'), args.text('kind'), args.flag('kind')]).toEqual([['x', 'y'], undefined, false])
  })

  it('may have values and words that begin with a dash', async () => {
    const args = await parseArguments(command, ['-2h', '--text', '-x', '-'])
    expect([args.word(0), args.optionalWord(1), args.text('text')]).toEqual(['-2h', '-', '-x'])
  })

  it('keeps what follows two dashes for commands that want it', async () => {
    const args = await parseArguments({ ...command, rest: 'command' }, ['one', '--', 'node', '--flag'])
    expect(args.rest).toEqual(['node', '--flag'])
    expect(args.flag('flag')).toBe(false)
    expect((await parseArguments(command, ['--', '--odd-name'])).word(0)).toBe('--odd-name')
  })

  it.each([
    [[], ['<first>: it is missing']],
    [['a', 'b', 'c'], ['c: nothing expects this word; test takes at most 2']],
    [['a', '--txt', 'x', 'y', 'z'], ['--txt: there is no such option; did you mean --text?']],
    [['a', '--flag=yes'], ['--flag: it takes no value']],
    [['a', '--text'], ['--text: its value is missing']],
    [['a', '--text', '--flag'], ['--text: its value is missing']],
    [['a', '--text', 'x', '--text', 'y'], ['--text: it is given twice']],
    [['a', '-n', '6'], ['--count: "6" is not allowed']],
    [['a', '-n', '1e1'], ['--count: "1e1" is not allowed']],
    [['a', '--kind', 'gren'], ['--kind: "gren" is not one of them; did you mean green?']],
    [
      ['a', '-x', '--toString'],
      ['-x: there is no such option', '--toString: there is no such option'],
    ],
  ])('%j is refused', async (argv, faults) => {
    expect(await faultsOf(...argv)).toEqual(faults)
  })

  it('that asks for help is not judged', async () => {
    expect(await faultsOf('--help', '--nonsense')).toEqual([])
  })
})
