import type { JobInput } from '../app/nouns.js'
import { usageError } from './usage-error.js'
import type { Context } from './command.js'
import type { Option } from './syntax.js'

const most = Number.MAX_SAFE_INTEGER

/** What says what a job does, and how it is queued, retried and limited. */
export const jobOptions: readonly Option[] = [
  { name: 'url', value: 'url', help: 'what it does: a request to it' },
  { name: 'method', value: 'method', help: 'of the request; default GET, POST with a body' },
  { name: 'header', value: 'name=value', help: 'of the request', isList: true },
  { name: 'body', value: 'json', help: 'of the request; default the payload' },
  { name: 'env', value: 'NAME=value', help: 'for the command', isList: true },
  { name: 'cwd', value: 'directory', help: 'of the command; default that of the app', completes: 'file' },
  { name: 'queue', value: 'name', help: 'where its runs wait; default `default`' },
  { name: 'retry', value: 'n', help: 'tries in all; default 1', whole: { min: 1, max: 1000 } },
  { name: 'retry-delay', value: 'duration', help: 'the first wait; default 1s' },
  {
    name: 'retry-backoff',
    value: 'kind',
    help: 'how waits grow',
    choices: ['constant', 'linear', 'exponential'],
  },
  { name: 'timeout', value: 'duration', help: 'how long an attempt may take' },
  { name: 'concurrency', value: 'n', help: 'runs of it at once', whole: { min: 1, max: most } },
  {
    name: 'key-concurrency',
    value: 'n',
    help: 'runs with one group key at once',
    whole: { min: 1, max: most },
  },
]

/** The options that mean nothing without a job. */
const onlyWithJob = jobOptions.map((option) => option.name)

/** The job that was described, if any was. The rules are the model's; here only texts become values. */
export async function readJobInput(context: Context): Promise<JobInput | undefined> {
  const { args } = context
  const handler = readHandler(context)
  if (handler === undefined) {
    const stray = onlyWithJob.filter((name) => args.flag(name))
    if (stray.length === 0) return undefined
    const faults = stray.map((name) => ({
      path: `--${name}`,
      message: 'it means nothing without -- command or --url',
    }))
    throw usageError(faults, '`rota add --help` shows examples')
  }
  return {
    ...handler,
    queue: args.text('queue'),
    retry: readRetry(context),
    timeout: args.text('timeout'),
    concurrency: args.whole('concurrency'),
    keyConcurrency: args.whole('key-concurrency'),
  }
}

function readHandler({ args }: Context): Pick<JobInput, 'command' | 'http'> | undefined {
  const url = args.text('url')
  const argv = args.rest
  if (url === undefined && argv.length === 0) return undefined
  const env = readPairs(args.list('env'), 'env')
  const command = argv.length === 0 ? undefined : { argv, env, cwd: args.text('cwd') }
  const method = args.text('method')?.toUpperCase()
  const body = args.text('body')
  const http =
    url === undefined
      ? undefined
      : {
          url,
          method,
          headers: readPairs(args.list('header'), 'header'),
          body: body === undefined ? undefined : readJson(body),
        }
  // Whether a method exists, and that there is one way only, are questions for the model.
  return { command, http } as Pick<JobInput, 'command' | 'http'>
}

function readRetry({ args }: Context): JobInput['retry'] {
  const attempts = args.whole('retry')
  const delay = args.text('retry-delay')
  const backoff = (['constant', 'linear', 'exponential'] as const).find(
    (kind) => kind === args.text('retry-backoff'),
  )
  if (attempts === undefined && delay === undefined && backoff === undefined) return undefined
  return { attempts, delay, backoff }
}

function readPairs(pairs: readonly string[], option: string): Readonly<Record<string, string>> | undefined {
  if (pairs.length === 0) return undefined
  const entries = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf('=')
    if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)]
    const message = `${JSON.stringify(pair)} is not a name and a value`
    throw usageError(
      [{ path: `--${option}`, message, allowed: 'name=value' }],
      'write an equals sign between them',
    )
  })
  return Object.fromEntries(entries)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const message = `${JSON.stringify(text.slice(0, 60))} is not JSON`
    throw usageError([{ path: '--body', message }], 'a text needs its own quotes')
  }
}
