import { describe, expect, it } from 'vitest'
import { program } from '../../src/cli/commands.js'
import { commandGroups } from '../../src/cli/framework/command.js'
import { commandHelp, programHelp } from '../../src/cli/framework/help.js'
import { withSubcommands } from '../../src/cli/framework/subcommand.js'
import { hasFeatures, isWhole, type FeatureName } from '../features.js'
import { rota, tooWide } from './rota.js'

const commands = await program.commands()
const all = (
  await Promise.all(
    Object.entries(commands).map(async ([name, { load }]) => withSubcommands(await load(), name)),
  )
).flat()
const named = all.map((one) => [one.path, one.command] as const)

describe('the help', () => {
  it.each(named)('of %s has an example and fits 80 columns', (path, command) => {
    const { options = [], subcommands = [] } = command
    const examples = Object.keys(command.examples ?? {})
    const text = commandHelp(command, path).join('\n')
    expect(command.name).toBe(path.split(' ').at(-1))
    expect(text).toMatch(new RegExp(`^usage: rota ${path}\\b`))
    if (subcommands.length === 0) expect(examples.length).toBeGreaterThan(0)
    for (const line of examples) expect(line).toContain(`rota ${path}`)
    for (const option of options) expect(text).toContain(`--${option.name}`)
    for (const { name, summary } of subcommands) expect(text).toMatch(new RegExp(`\\n  ${name} +${summary}`))
    const lines = new Set(examples.map((line) => `  ${line}`))
    expect(tooWide(text).filter((line) => !lines.has(line))).toEqual([])
  })

  it.each(named)(
    'of %s takes --json unless it prints a script or speaks a protocol',
    (path, { options = [], run }) => {
      const names = options.map((option) => option.name)
      if (run !== undefined) expect(names.includes('json')).toBe(!['completion', 'mcp'].includes(path))
    },
  )

  it('of the program lists every command in its group, and the exit codes', () => {
    const text = programHelp(commands).join('\n')
    for (const name of Object.keys(commands)) expect(text).toContain(`\n  ${name} `)
    for (const title of Object.values(commandGroups)) {
      // A feature may have all the commands of a group.
      if (isWhole) expect(text).toContain(`\n${title}:\n`)
    }
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

describe('an invalid command line', () => {
  it('names the nearest command', async () => {
    const { code, stdout, stderr } = await rota(['rums'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe('error: unknown command `rums` (did you mean `runs`?) [USAGE]\n')
  })

  const words: readonly [words: string[], told: string, feature?: FeatureName][] = [
    [['hlep'], 'did you mean `help`?'],
    [['jbo', 'list'], 'unknown command `jbo` (did you mean `job`?)', 'command-jobs'],
    [['dn'], 'unknown command `dn`; `rota --help` lists the commands'],
    [
      ['job', 'lst'],
      'unknown subcommand `lst` (did you mean `list`?) (allowed: add, remove, get, ',
      'command-jobs',
    ],
    [['sensor', 'previw'], 'did you mean `preview`?', 'sensors'],
    [['asset', 'backfil'], 'did you mean `backfill`?', 'assets'],
    [['queue', 'lsit'], 'did you mean `list`?', 'plans'],
    [['plan', 'chek', 'x'], 'did you mean `check`?', 'plans'],
    [['switch', 'wroker', 'off'], '<name>: unknown value "wroker" (did you mean `worker`?)'],
    [['completion', 'zhs'], '<shell>: unknown value "zhs" (did you mean `zsh`?) (allowed: bash, zsh, fish)'],
  ]
  const known = words.filter(([, , feature]) => feature === undefined || hasFeatures(feature))

  it.each(known)('names the nearest word: %j', async (words, told) => {
    expect(await rota(words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(told) as unknown,
    })
  })

  it('lists every fault with the nearest option', async () => {
    const { code, stderr } = await rota(['runs', '--stat', 'failed', '--limit', 'many', '--state', 'faild'])
    expect(code).toBe(2)
    expect(stderr.split('\n')).toEqual([
      'error: 3 faults; see `rota runs --help` [USAGE]',
      '  unknown option `--stat` (did you mean `--state`?)',
      '  --limit: "many" is not allowed (allowed: a whole number from 1 to 10000)',
      '  --state: unknown value "faild" (did you mean `failed`?) (allowed: pending, running, done, failed, cancelled)',
      '',
    ])
  })

  it('is reported as JSON with --json, without control characters', async () => {
    const [json, text] = await Promise.all([rota(['show', '--json']), rota(['\u001b[31mred'])])
    expect(json).toMatchObject({ code: 2, stdout: '' })
    expect(JSON.parse(json.stderr)).toEqual({
      error: {
        code: 'USAGE',
        message: 'missing argument <name>; see `rota show --help`',
        faults: [{ path: '<name>', message: 'missing argument <name>' }],
        todo: 'Read the help: `rota <command> --help`.',
      },
    })
    expect(text.stderr).toContain(String.raw`\u001b[31mred`)
    expect(text.stderr).not.toContain('\u001b')
    expect(text.stderr).not.toMatch(/\n\s+at /)
  })
})
