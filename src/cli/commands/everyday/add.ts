import { assertName, longestName } from '../../framework/names.js'
import type { App } from '../../../app/rota.js'
import { readJobInput, jobOptionNames, jobOptions } from '../../options/job-options.js'
import { type Command, exitCodes, storeOptions } from '../../framework/command.js'
import { type OptionNames, withOptionNames } from '../../framework/option-names.js'
import { readTriggerInput, triggerOptionNames, triggerOptions } from '../../options/trigger-options.js'
import { usageError } from '../../framework/usage-error.js'

/** `rota add`: adds a job, a trigger, or both, at run time. */
export const add: Command<App> = {
  name: 'add',
  about:
    'Adds a job (a command after --, or --url), a trigger (--cron, --every or --at, with --job), or both under one name. They live in the store, beside those from code and config, and a running engine picks them up at once. A command is run without a shell, word by word.',
  arguments: [{ name: 'name', help: 'the name of the trigger, the job, or both' }],
  options: [
    ...triggerOptions,
    ...jobOptions,
    { name: 'replace', help: 'change it if it exists' },
    ...storeOptions,
  ],
  rest: 'command [argument...]',
  examples: [
    {
      line: "rota add report --cron '0 2 * * *' --zone Europe/Berlin -- node report.mjs",
      meaning: 'a job and its trigger',
    },
    { line: 'rota add ping --every 1m --url https://example.org/health', meaning: 'a request every minute' },
    { line: "rota add weekly --cron '@weekly' --job report", meaning: 'one more trigger for a job' },
    {
      line: 'rota add mail --retry 5 --timeout 30s -- ./send-mail',
      meaning: 'a job for `rota enqueue`',
    },
  ],
  run: async (context) => {
    const { args, out } = context
    const name = args.word(0)
    // Longer, it would be cut where the faults of its options are listed.
    if (name.length > longestName) assertName(name, '<name>')
    const job = await readJobInput(context)
    const trigger = await readTriggerInput(context, { name, hasJob: job !== undefined })
    if (job === undefined && trigger === undefined) throw nothingToAdd()
    const jobs = job === undefined ? {} : { [name]: job }
    const triggers = trigger === undefined ? {} : { [name]: trigger }
    const add = (app: App): ReturnType<App['triggers']['add']> =>
      withOptionNames(optionNames(name), () =>
        app.triggers.add(triggers, { jobs, replace: args.flag('replace') }),
      )
    return await context.withApp(
      async (app) => {
        const added = await add(app)
        out.show(added, addedText(added))
        return exitCodes.ok
      },
      { create: add },
    )
  },
}

function optionNames(name: string): OptionNames {
  const own = (kind: string, names: OptionNames): [string, string][] =>
    Object.entries(names).map(([key, option]) => [`${kind}.${name}.${key}`, option])
  const all = [...own('jobs', jobOptionNames), ...own('triggers', triggerOptionNames)]
  return { ...Object.fromEntries(all), [`jobs.${name}`]: '<name>', [`triggers.${name}`]: '<name>' }
}

function nothingToAdd(): Error {
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
