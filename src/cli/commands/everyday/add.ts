import { assertName, longestName } from '../../framework/names.js'
import type { App } from '../../../app/rota.js'
import { readJobInput, jobOptions } from '../../options/job-options.js'
import { type Command, type Surroundings, changeOptions } from '../../framework/command.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { readTriggerInput, triggerOptions } from '../../options/trigger-options.js'
import { readSlaInput, slaOptions } from '../../framework/options/sla-options.js'
import { usageError } from '../../framework/usage-error.js'

/** `rota add`: adds a job, a trigger, or both, at run time. */
export const add: Command<App> = {
  name: 'add',
  about:
    'Adds a job (a command after --, or --url), a trigger (--cron, --every or --at, with --job), or both under one name. The store keeps them, in addition to those from code and config, and a running engine uses them immediately. A command runs without a shell. An SLA is that of the trigger, or of a job that is added alone.',
  arguments: [{ name: 'name', help: 'the name of the trigger, the job, or both' }],
  options: [
    ...triggerOptions,
    ...jobOptions,
    ...slaOptions,
    { name: 'replace', help: 'change it if it exists' },
    ...changeOptions,
  ],
  rest: 'command [argument...]',
  examples: {
    "rota add report --cron '0 2 * * *' --zone Europe/Berlin -- node report.mjs": 'a job and its trigger',
    'rota add ping --every 1m --url https://example.org/health': 'a request every minute',
    "rota add weekly --cron '@weekly' --job report": 'one more trigger for a job',
    'rota add mail --retry 5 --timeout 30s -- ./send-mail': 'a job for `rota enqueue`',
    'rota add mail --started-within 1m -- ./send-mail': 'the same, with an SLA for each of its runs',
  },
  run: async (context) => {
    const { args, out } = context
    const name = args.word(0)
    // A longer name would be truncated in the list of faults.
    if (name.length > longestName) assertName(name, '<name>')
    const job = await readJobInput(context)
    const trigger = await readTriggerInput(context, { name, hasJob: job !== undefined })
    if (job === undefined && trigger === undefined) throw nothingToAdd(context)
    const sla = trigger === undefined ? { sla: await readSlaInput(context) } : {}
    const jobs = job === undefined ? {} : { [name]: { ...job, ...sla } }
    const triggers = trigger === undefined ? {} : { [name]: trigger }
    const dryRun = args.flag('dry-run')
    const add = async (app: App): ReturnType<App['triggers']['add']> => {
      try {
        return await app.triggers.add(triggers, { jobs, replace: args.flag('replace'), dryRun })
      } catch (error) {
        throw error instanceof RotaError ? withoutPlace(error, name) : error
      }
    }
    return await context.withApp(
      async (app) => {
        const added = await add(app)
        out.show(added, addedText(added))
      },
      dryRun ? { orEmpty: true } : { create: add },
    )
  },
}

/** The error with only the keys of the job and the trigger, in the form of the options. */
function withoutPlace(error: RotaError, name: string): RotaError {
  const places = [`jobs.${name}`, `triggers.${name}`]
  const faults = error.faults.map((fault) => {
    const place = places.find((one) => fault.path === one || fault.path.startsWith(`${one}.`))
    const key = place === undefined ? fault.path : fault.path.slice(place.length + 1)
    return { ...fault, path: key === '' ? 'name' : key }
  })
  return new RotaError(error.code, error.message, { faults, cause: error })
}

function nothingToAdd({ args }: Surroundings): Error {
  const stray = slaOptions.filter((option) => args.flag(option.name))
  if (stray.length > 0) {
    const message = 'needs --cron, --every, --at, --url or -- command'
    const faults = stray.map((option) => ({ path: `--${option.name}`, message }))
    return usageError(faults, 'see `rota add --help`')
  }
  const fault = {
    path: '<name>',
    message: 'neither a command nor a schedule is given',
    allowed: '-- command, --url, --cron, --every, --at',
  }
  return usageError([fault], 'see `rota add --help`')
}

function addedText({ jobs, triggers }: { jobs: readonly string[]; triggers: readonly string[] }): string {
  const parts = [...jobs.map((name) => `job ${name}`), ...triggers.map((name) => `trigger ${name}`)]
  const [first] = triggers
  const next =
    first === undefined ? `\`rota run ${jobs[0]}\` runs it` : `\`rota show ${first}\` shows when it is due`
  return `added ${parts.join(' and ')}; ${next}`
}
