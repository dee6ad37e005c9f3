import { carriesPassword, isSecretHeader, isSecretVariable } from '../../kernel/definition/secret-text.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { SecretRef, SecretText } from '../../kernel/definition/secret-text.js'
import { quotedText } from '../../text/error-text.js'
import { usageError } from '../framework/usage-error.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'

const most = Number.MAX_SAFE_INTEGER

/** The options of a job: its action, and how it is queued, retried and limited. */
export const jobOptions: readonly Option[] = [
  { name: 'url', key: 'http', value: 'url', help: 'what it does: a request to this URL' },
  {
    name: 'method',
    key: 'http.method',
    value: 'method',
    help: 'of the request; default: GET, POST with a body',
  },
  {
    name: 'header',
    key: 'http.headers',
    value: 'name=value',
    help: 'of the request',
    isList: true,
    isContent: true,
  },
  {
    name: 'body',
    key: 'http.body',
    value: 'json',
    help: 'of the request; default: the payload',
    isContent: true,
  },
  {
    name: 'env',
    key: 'command.env',
    value: 'NAME=value',
    help: 'for the command',
    isList: true,
    isContent: true,
  },
  {
    name: 'secret',
    value: 'name=[prefix]env:NAME|file:path',
    help: 'a header or variable that the worker reads for each attempt; never stored',
    isList: true,
  },
  {
    name: 'allow-literal-secrets',
    help: 'accept secrets in --header and --env; they are stored in clear text',
  },
  {
    name: 'cwd',
    key: 'command.cwd',
    value: 'directory',
    help: 'of the command; default: that of the app',
    completes: 'file',
  },
  { name: 'queue', value: 'name', help: 'the queue of its runs; default: `default`' },
  {
    name: 'retry',
    key: 'retry.attempts',
    value: 'n',
    help: 'total number of attempts; default: 1',
    whole: [1, 1000],
  },
  {
    name: 'retry-delay',
    key: 'retry.delay',
    value: 'duration',
    help: 'the delay before the first retry; default: 1s',
  },
  {
    name: 'retry-backoff',
    key: 'retry.backoff',
    value: 'kind',
    help: 'how the delay grows',
    choices: ['constant', 'linear', 'exponential'],
  },
  {
    name: 'retry-not',
    key: 'retry.not',
    value: 'error',
    help: 'a class, code, exit code or status that is not retried',
    isList: true,
  },
  {
    name: 'retention',
    value: 'duration',
    help: 'how long its final runs are kept; default: that of the app',
  },
  { name: 'dead-letter', value: 'job', help: 'the job that gets each run that finally failed' },
  { name: 'timeout', value: 'duration', help: 'how long an attempt may take' },
  ...rateOptions({ name: 'limit', key: 'limit', what: 'how many may start' }),
  ...rateOptions({
    name: 'key-limit',
    key: 'limitPerKey',
    what: 'how many with the same concurrency key may start',
  }),
  { name: 'concurrency', value: 'n', help: 'how many of its runs concurrently', whole: [1, most] },
  {
    name: 'concurrency-per-key',
    value: 'n',
    help: 'how many runs with the same concurrency key concurrently',
    whole: [1, most],
  },
]

function rateOptions({ name, key, what }: { name: string; key: string; what: string }): Option[] {
  const whole = [1, 1_000_000] as const
  return [
    { name, key: `${key}.max`, value: 'n', help: `${what} in --${name}-per`, whole },
    {
      name: `${name}-per`,
      key: `${key}.per`,
      value: 'duration',
      help: `the period of --${name}, such as 1m`,
    },
    {
      name: `${name}-burst`,
      key: `${key}.burst`,
      value: 'n',
      help: 'how many of them may start together; default: 1',
      whole,
    },
  ]
}

/** The options that have no effect without a job. */
const onlyWithJob = jobOptions.map((option) => option.name)

/** Reads the job of the options, if there is one. Only converts texts to values; the kernel checks them. */
export async function readJobInput(context: Surroundings): Promise<JobInput | undefined> {
  const { args } = context
  const handler = readHandler(context)
  if (handler === undefined) {
    const stray = onlyWithJob.filter((name) => args.flag(name))
    if (stray.length === 0) return undefined
    const faults = stray.map((name) => ({
      path: `--${name}`,
      message: 'needs -- command or --url',
    }))
    throw usageError(faults, 'see `rota add --help`')
  }
  return {
    ...handler,
    queue: args.text('queue'),
    retry: readRetry(context),
    timeout: args.text('timeout'),
    limit: readLimit(context, 'limit'),
    limitPerKey: readLimit(context, 'key-limit'),
    deadLetter: args.text('dead-letter'),
    retention: args.text('retention'),
    concurrency: args.whole('concurrency'),
    concurrencyPerKey: args.whole('concurrency-per-key'),
  }
}

function readHandler({ args }: Surroundings): Pick<JobInput, 'command' | 'http'> | undefined {
  const url = args.text('url')
  const argv = args.rest
  if (url === undefined && argv.length === 0) return undefined
  const allowLiteralSecrets = args.flag('allow-literal-secrets')
  const secrets = readSecrets(args.list('secret'))
  const env = readTexts({ option: 'env', isSecret: isSecretVariable, secrets, allowLiteralSecrets }, args)
  const command = argv.length === 0 ? undefined : { argv, env, cwd: args.text('cwd'), allowLiteralSecrets }
  const method = args.text('method')?.toUpperCase()
  const body = args.text('body')
  const http =
    url === undefined
      ? undefined
      : {
          url,
          method,
          headers: readTexts(
            { option: 'header', isSecret: isSecretHeader, secrets, allowLiteralSecrets },
            args,
          ),
          allowLiteralSecrets,
          body: body === undefined ? undefined : readJson(body),
        }
  // The kernel checks the method, and that there is exactly one action.
  return { command, http } as Pick<JobInput, 'command' | 'http'>
}

/** The kernel reports missing options. */
function readLimit({ args }: Surroundings, name: 'limit' | 'key-limit'): JobInput['limit'] {
  if (![name, `${name}-per`, `${name}-burst`].some((option) => args.flag(option))) return undefined
  const burst = args.whole(`${name}-burst`)
  return { max: args.whole(name), per: args.text(`${name}-per`), burst } as NonNullable<JobInput['limit']>
}

function readRetry({ args }: Surroundings): JobInput['retry'] {
  const attempts = args.whole('retry')
  const delay = args.text('retry-delay')
  const backoff = (['constant', 'linear', 'exponential'] as const).find(
    (kind) => kind === args.text('retry-backoff'),
  )
  const errors = args.list('retry-not').map((error) => (/^\d{1,9}$/.test(error) ? Number(error) : error))
  const not = errors.length === 0 ? undefined : errors
  if (attempts === undefined && delay === undefined && backoff === undefined && not === undefined)
    return undefined
  return { attempts, delay, backoff, not }
}

/** Literal texts, and references that the worker resolves. */
function readTexts(
  asked: {
    readonly option: 'env' | 'header'
    readonly isSecret: (name: string) => boolean
    readonly secrets: Readonly<Record<string, SecretRef>>
    readonly allowLiteralSecrets: boolean
  },
  args: Surroundings['args'],
): Readonly<Record<string, SecretText>> | undefined {
  const { option, secrets } = asked
  const given = readPairs(args.list(option), option)
  const written = Object.entries(given)
    .filter(([name, text]) => text !== '' && (asked.isSecret(name) || carriesPassword(text)))
    .map(([name]) => name)
  if (written.length > 0 && !asked.allowLiteralSecrets) {
    const faults = written.map((name) => ({
      path: `--${option} ${name}`,
      message: 'this secret would be stored in clear text',
      allowed: `--secret ${name}=env:NAME or --secret ${name}=file:path`,
    }))
    throw usageError(faults, '--allow-literal-secrets stores it anyway')
  }
  const texts = { ...given, ...secrets }
  return Object.keys(texts).length === 0 ? undefined : texts
}

/** Reads references such as `name=env:NAME` or `name=file:path`; text between is the prefix. */
function readSecrets(pairs: readonly string[]): Readonly<Record<string, SecretRef>> {
  const entries = Object.entries(readPairs(pairs, 'secret')).map(([name, where]): [string, SecretRef] => {
    const [, prefix = '', kind, value = ''] = /^(.*?)(env|file):(.+)$/.exec(where) ?? []
    if (kind === undefined) {
      const message = `${quotedText(where)} does not name a variable or a file`
      const allowed = `${name}=env:NAME, ${name}=file:path, or with a text before it: "${name}=Bearer env:NAME"`
      throw usageError([{ path: '--secret', message, allowed }], 'the worker reads it; it is never stored')
    }
    const before = prefix === '' ? {} : { prefix }
    return [name, kind === 'env' ? { env: value, ...before } : { file: value, ...before }]
  })
  return Object.fromEntries(entries)
}

function readPairs(pairs: readonly string[], option: string): Readonly<Record<string, string>> {
  const entries = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf('=')
    if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)]
    const message = `${quotedText(pair)} is not a name and a value`
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
    const message = `${quotedText(text)} is not JSON`
    throw usageError([{ path: '--body', message }], 'a text needs its own quotes')
  }
}
