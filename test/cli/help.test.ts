import { describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/commands.js'
import { commandHelp, programHelp } from '../../src/cli/framework/help.js'
import { rota, tooWide } from './rota.js'

describe('the help', () => {
  it.each(Object.keys(commands))('of %s has an example and fits 80 columns', async (name) => {
    const command = await commands[name]?.load()
    if (command === undefined) throw new Error('no such command')
    const text = commandHelp(command).join('\n')
    expect(command.name).toBe(name)
    expect(text).toMatch(new RegExp(`^usage: rota ${name}\\b`))
    expect(command.examples.length).toBeGreaterThan(0)
    for (const { line } of command.examples) expect(line).toContain(`rota ${name}`)
    for (const option of command.options) expect(text).toContain(`--${option.name}`)
    const examples = new Set(command.examples.map(({ line }) => `  ${line}`))
    expect(tooWide(text).filter((line) => !examples.has(line))).toEqual([])
  })

  it.each(Object.keys(commands))('of %s takes --json unless it prints a script', async (name) => {
    const command = await commands[name]?.load()
    const names = command?.options.map((option) => option.name)
    expect(names?.includes('json')).toBe(name !== 'completion')
  })

  it('of the program lists every command and the exit codes', () => {
    const text = programHelp(commands).join('\n')
    for (const name of Object.keys(commands)) expect(text).toContain(`\n  ${name} `)
    expect(text).toContain('exit codes:')
    expect(tooWide(text)).toEqual([])
  })

  it('is printed by the built command', async () => {
    const [program, none, one, other, version] = await Promise.all([
      rota(['--help']),
      rota([]),
      rota(['runs', '--help']),
      rota(['help', 'runs']),
      rota(['--version']),
    ])
    expect(program).toMatchObject({ code: 0, stderr: '' })
    expect(none).toEqual(program)
    expect(one).toMatchObject({ code: 0, stderr: '' })
    expect(one.stdout).toContain('usage: rota runs [options]')
    expect(other).toEqual(one)
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+/)
  })
})

describe('a command line that is not understood', () => {
  it('names the nearest command', async () => {
    const { code, stdout, stderr } = await rota(['rums'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe('error: there is no command rums; did you mean runs? [USAGE]\n')
  })

  it.each([
    [['hlep'], 'did you mean help?'],
    [['jbo', 'list'], 'there is no command jbo; did you mean job?'],
    [['dn'], 'there is no command dn; `rota --help` lists them'],
    [['job', 'lst'], '<action>: "lst" is not one of them; did you mean list? (allowed: add, remove, get, '],
    [['sensor', 'previw'], 'did you mean preview?'],
    [['asset', 'backfil'], 'did you mean backfill?'],
    [['queue', 'lsit'], 'did you mean list?'],
    [['plan', 'chek', 'x'], 'did you mean check?'],
    [['switch', 'wroker', 'off'], '<name>: "wroker" is not one of them; did you mean worker?'],
    [
      ['completion', 'zhs'],
      '<shell>: "zhs" is not one of them; did you mean zsh? (allowed: bash, zsh, fish)',
    ],
  ])('names the nearest word: %j', async (words, told) => {
    expect(await rota(words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(told) as unknown,
    })
  })

  it('lists every fault with the nearest option', async () => {
    const { code, stderr } = await rota(['runs', '--stat', 'failed', '--limit', 'many', '--state', 'faild'])
    expect(code).toBe(2)
    expect(stderr.split('\n')).toEqual([
      'error: 3 faults; `rota runs --help` shows what it takes [USAGE]',
      '  --stat: there is no such option; did you mean --state?',
      '  --limit: "many" is not allowed (allowed: a whole number from 1 to 10000)',
      '  --state: "faild" is not one of them; did you mean failed? (allowed: pending, running, done, failed, cancelled)',
      '',
    ])
  })

  it('is told as JSON where JSON was asked for, without control characters', async () => {
    const [json, text] = await Promise.all([rota(['show', '--json']), rota(['\u001b[31mred'])])
    expect(json).toMatchObject({ code: 2, stdout: '' })
    expect(JSON.parse(json.stderr)).toEqual({
      error: {
        code: 'USAGE',
        message: expect.stringMatching(/^<name>: it is missing .*; `rota show --help` shows what it takes$/),
        faults: [expect.objectContaining({ path: '<name>', message: 'it is missing' })],
      },
    })
    expect(text.stderr).toContain(String.raw`\u001b[31mred`)
    expect(text.stderr).not.toContain('\u001b')
    expect(text.stderr).not.toMatch(/\n\s+at /)
  })
})
