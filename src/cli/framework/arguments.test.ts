import { describe, expect, it } from 'vitest'
import { type Arguments, parseArguments } from './arguments.js'
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
    { name: 'count', short: 'n', value: 'n', help: '', whole: [-5, 5] },
    { name: 'kind', value: 'kind', help: '', choices: ['red', 'green'] },
    { name: 'kinds', value: 'kinds', help: '', choices: ['red', 'green'], isSeveral: true },
  ],
  run: async () => 0,
}

async function parse(argv: readonly string[], one: Command = command): Promise<Arguments> {
  return await parseArguments({ command: one, path: one.name, argv })
}

/** The faults of a command line, one line each. */
async function faultsOf(...argv: string[]): Promise<string[]> {
  try {
    await parse(argv)
  } catch (error) {
    const { faults } = error as { faults: { path: string; message: string }[] }
    return faults.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

describe('a command line', () => {
  it('may have its options anywhere, with or without an equals sign', async () => {
    const args = await parse(['--text=a=b', 'one', '-f', '-n', '-3', 'two', '--list', 'x', '--list', 'y'])
    expect([args.word(0), args.optionalWord(1), args.optionalWord(2)]).toEqual(['one', 'two', undefined])
    expect([args.text('text'), args.flag('flag'), args.whole('count')]).toEqual(['a=b', true, -3])
    expect([args.list('list'), args.text('kind'), args.flag('kind')]).toEqual([['x', 'y'], undefined, false])
  })

  it('may have values and words that begin with a dash', async () => {
    const args = await parse(['-2h', '--text', '-x', '-'])
    expect([args.word(0), args.optionalWord(1), args.text('text')]).toEqual(['-2h', '-', '-x'])
  })

  it('passes the words after two dashes to commands that accept them', async () => {
    const args = await parse(['one', '--', 'node', '--flag'], { ...command, rest: 'command' })
    expect(args.rest).toEqual(['node', '--flag'])
    expect(args.flag('flag')).toBe(false)
    expect((await parse(['--', '--odd-name'])).word(0)).toBe('--odd-name')
  })

  it.each([
    [[], ['<first>: missing argument <first>']],
    [['a', 'b', 'c'], ['`c`: unexpected argument; `rota test` takes at most 2']],
    [['a', '--txt', 'x', 'y', 'z'], ['--txt: unknown option `--txt` (did you mean `--text`?)']],
    [['a', '--flag=yes'], ['--flag: `--flag` takes no value']],
    [['a', '--text'], ['--text: `--text` needs a value <text>']],
    [['a', '--text', '--flag'], ['--text: `--text` needs a value <text>']],
    [['a', '--text', 'x', '--text', 'y'], ['--text: `--text` is given twice']],
    [['a', '-n', '6'], ['--count: "6" is not allowed']],
    [['a', '-n', '1e1'], ['--count: "1e1" is not allowed']],
    [['a', '--kind', 'gren'], ['--kind: unknown value "gren" (did you mean `green`?)']],
    [['a', '--kinds', 'red,gren'], ['--kinds: unknown value "gren" (did you mean `green`?)']],
    [['a', '--kinds', 'red,green'], []],
    [
      ['a', '-x', '--toString'],
      ['-x: unknown option `-x`', '--toString: unknown option `--toString`'],
    ],
  ])('%j is refused', async (argv, faults) => {
    expect(await faultsOf(...argv)).toEqual(faults)
  })

  it('with --help is not checked', async () => {
    expect(await faultsOf('--help', '--nonsense')).toEqual([])
  })
})

describe('an option that is required', () => {
  it('is named in the error', async () => {
    const strict: Command = {
      name: 'move',
      options: [{ name: 'to', value: 'url', help: '', isRequired: true }],
    }
    await expect(parse([], { ...strict, run: async () => 0 })).rejects.toThrow(
      'missing option `--to`; see `rota move --help`',
    )
  })
})

describe('an argument after an optional one', () => {
  const pair: Command = {
    name: 'switch',
    arguments: [
      { name: 'name', help: '', isOptional: true, choices: ['worker'] },
      { name: 'state', help: '', choices: ['on', 'off'] },
    ],
    run: async () => 0,
  }

  it('is required only together with it', async () => {
    expect((await parse([], pair)).optionalWord(0)).toBe(undefined)
    await expect(parse(['worker'], pair)).rejects.toThrow('missing argument <state> (allowed: on, off)')
    await expect(parse(['wroker', 'on'], pair)).rejects.toThrow(
      '<name>: unknown value "wroker" (did you mean `worker`?) (allowed: worker)',
    )
  })
})
