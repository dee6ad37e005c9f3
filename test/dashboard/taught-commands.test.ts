import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { program } from '../../src/cli/commands.js'
import { withSubcommands } from '../../src/cli/framework/subcommand.js'
import { builtSchema, fits } from '../config-schema.js'
import { isWhole } from '../features.js'
import { filesUnder } from '../repository.js'

// The dashboard has all pages, even if features were removed.
it.runIf(isWhole)(
  'every command line that the dashboard teaches has a command and options that exist',
  async () => {
    const entries = Object.entries(await program.commands())
    const commands = (
      await Promise.all(entries.map(async ([name, { load }]) => withSubcommands(await load(), name)))
    ).flat()
    const taught = filesUnder('dashboard/src', ['.ts', '.tsx']).flatMap(({ text }) =>
      [...text.matchAll(/\brota ((?:[a-z]+ ?)+)([^`'\n]*)/g)].filter(([, words = '', rest = '']) =>
        /--\w|[<$]/.test(`${words}${rest}`),
      ),
    )
    expect(taught.length).toBeGreaterThan(5)
    const broken = taught.filter(([, words = '', rest = '']) => {
      // The longest path that the line begins with, such as `asset backfill`.
      const named = commands.filter(({ path }) => `${words.trim()} `.startsWith(`${path} `))
      const [command] = named.toSorted((one, other) => other.path.length - one.path.length)
      const known = new Set((command?.command.options ?? []).map(({ name }) => `--${name}`))
      const used = [...(rest.split(' -- ')[0] ?? '').matchAll(/--[a-z-]+/g)].map(([option]) => option)
      return command === undefined || used.some((option) => !known.has(option))
    })
    expect(broken.map(([line]) => line)).toEqual([])
  },
)

it.runIf(isWhole)('every config that the dashboard teaches fits the schema of config files', () => {
  const taught = filesUnder('dashboard/src/words', ['.ts']).flatMap(({ text }) =>
    [...text.matchAll(/\bcode: `([^`]+)`/g)].map(([, code = '']) => code),
  )
  expect(taught.length).toBeGreaterThan(5)
  const schema = builtSchema('config')
  expect(taught.filter((code) => !fits(schema, parse(code)))).toEqual([])
})
