import type { App } from '../../../app/rota.js'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { appNameOf } from '../../../formats/app-name.js'
import { describe } from '../../../app/explain/describe.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { configIn } from '../../../formats/config/find-config.js'
import { checkStoreUrl } from '../../../formats/store-url.js'
import { assertFires } from '../../../time/cron/schedule.js'
import { zoneOf } from '../../../time/zone.js'
import { type Command, type Context, exitCodes, jsonOption } from '../../framework/command.js'
import { readAs } from '../../framework/option-names.js'
import { configText, formats, type Answers, type Format } from '../../views/config-text.js'

const defaults: Omit<Answers, 'app'> = {
  format: 'yaml',
  store: 'sqlite:data/rota.db',
  cron: '* * * * *',
  timezone: 'UTC',
}

/** `rota init`: writes a config that runs. */
export const init: Command<App> = {
  name: 'init',
  about:
    'Writes a config with one job and one trigger into this directory; `rota up` then runs it. On a terminal it asks for options that are missing; without a terminal, use --yes to take the defaults. It never overwrites an existing config.',
  options: [
    { name: 'format', value: 'format', help: 'the format; default: yaml', choices: formats },
    { name: 'store', value: 'url', help: `the store; default: ${defaults.store}` },
    { name: 'cron', value: 'expression', help: 'when the job is due; default: every minute' },
    { name: 'zone', value: 'zone', help: 'the IANA zone of --cron; default: UTC' },
    { name: 'yes', short: 'y', help: 'ask nothing, and use the defaults for missing options' },
    jsonOption,
  ],
  examples: {
    'rota init': 'answer three questions',
    'rota init --yes': 'take the defaults',
    "rota init --format ts --cron '0 9 * * MON-FRI' --zone Europe/Berlin --yes": 'in TypeScript',
  },
  run: async (context) => {
    const { out, directory } = context
    const existing = configIn(directory)
    if (existing !== undefined)
      throw new RotaError('USAGE', `${existing} already exists and is not overwritten`)
    const answers = await answersOf(context)
    if (answers === undefined) {
      out.note('cancelled; nothing was written')
      return exitCodes.failed
    }
    const { timezone } = answers
    readAs('--zone', () => zoneOf(timezone))
    readAs('--cron', () => assertFires(answers.cron, { timezone }))
    readAs('--store', () => checkStoreUrl(answers.store))
    const file = join(directory, `rota.config.${answers.format}`)
    await writeFile(file, configText(answers, hasPackage(directory)), { flag: 'wx' })
    out.show({ file, ...answers }, `wrote ${file}; \`rota up\` starts it`)
    return exitCodes.ok
  },
}

/** Whether a module of the directory can import this package: `npx` also runs it if it is not installed. */
function hasPackage(directory: string): boolean {
  try {
    return createRequire(join(directory, 'rota.config.mjs')).resolve('rota') !== ''
  } catch {
    return false
  }
}

/** The given options, the answers of the user, or the defaults; undefined if the user cancelled. */
async function answersOf(context: Context<App>): Promise<Answers | undefined> {
  const { args, directory } = context
  const app = appNameOf(directory)
  const given = {
    format: formats.find((format) => format === args.text('format')),
    store: args.text('store'),
    cron: args.text('cron'),
    timezone: args.text('zone') ?? defaults.timezone,
    app,
  }
  if (args.flag('yes')) {
    const { format = defaults.format, store = defaults.store, cron = defaults.cron } = given
    return { ...given, format, store, cron }
  }
  if (process.stdin.isTTY && process.stdout.isTTY && !args.flag('json')) return await ask(given)
  throw new RotaError(
    'USAGE',
    'this is not a terminal, so no questions can be asked; --yes takes the defaults',
  )
}

/** The options of the command line; some may be missing. */
type Given = Pick<Answers, 'app' | 'timezone'> & {
  readonly [Name in 'format' | 'store' | 'cron']: Answers[Name] | undefined
}

async function ask(given: Given): Promise<Answers | undefined> {
  const { intro, isCancel, select, text } = await import('@clack/prompts')
  intro('a config for rota')
  const format =
    given.format ??
    (await select<Format>({
      message: 'Which format?',
      options: [
        { value: 'yaml', label: 'YAML', hint: 'commands and requests' },
        { value: 'ts', label: 'TypeScript', hint: 'functions too' },
        { value: 'mjs', label: 'JavaScript', hint: 'functions too' },
        { value: 'json', label: 'JSON' },
      ],
    }))
  if (isCancel(format)) return undefined
  const store = given.store ?? (await text({ message: 'Which store?', initialValue: defaults.store }))
  if (isCancel(store)) return undefined
  const validate = (value: string | undefined): string | undefined => refusalOf(() => describe(value ?? ''))
  const whenDue = { message: 'When is the first job due?', initialValue: defaults.cron, validate }
  const cron = given.cron ?? (await text(whenDue))
  return isCancel(cron) ? undefined : { ...given, format, store, cron }
}

function refusalOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
