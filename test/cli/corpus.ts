import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../src/app/rota.js'
import { configOption, storeOption, zoneOption } from '../../src/cli/framework/command.js'
import type { Named } from '../../src/cli/framework/subcommand.js'
import type { Option, Syntax } from '../../src/cli/framework/syntax.js'
import { root } from '../repository.js'

/** A command or subcommand with its path, such as `round start`. */
export type Tried = Named<Syntax>

/** A command line with one invalid value. */
export interface Case {
  readonly argv: readonly string[]
  /** The place of the invalid value: `--option` or `<argument>`. */
  readonly holder: string
  readonly value: string
  /** The place accepts nearly every text, so the value may be accepted. */
  readonly mayPass: boolean
}

/** Every invalid value in every place of a command. */
export function casesOf(tried: Tried): Case[] {
  const { command, path } = tried
  const own = [...(partBases[path] ?? []), ...(bases[path] ?? [])]
  const claimed = own.flatMap(({ options = [] }) => options)
  const all = own.flatMap((base) => [
    ...triedOf(tried)
      .filter(({ name }) => !base.line.includes(`--${name}`))
      .filter(({ name }) => base.options?.includes(name) ?? !claimed.includes(name))
      .flatMap((option) => ofOption(path, base, option)),
    ...[...(base.words ?? (base.options === undefined ? (command.arguments ?? []).keys() : []))].flatMap(
      (index) => ofWord(tried, base, index),
    ),
  ])
  return all.filter(({ holder }) => leftOut[path] !== holder)
}

/** The options of a command that no base tests. */
export function untried(one: Tried): string[] {
  const { command } = one
  const tried = new Set(casesOf(one).map(({ holder }) => holder))
  const holders = [
    ...triedOf(one).map(({ name }) => `--${name}`),
    ...(command.arguments ?? []).map(({ name }) => `<${name}>`),
  ]
  return holders.filter((holder) => !tried.has(holder) && leftOut[one.path] !== holder)
}

/** The options with a value; those that many commands share are tested with some of them. */
function triedOf({ path, command: { options = [], run } }: Tried): Option[] {
  if (run === undefined) return []
  const areAll = ['list', 'up', 'work', 'sensor history'].includes(path)
  return options
    .filter((option) => option.value !== undefined && (areAll || !shared.includes(option)))
    .filter(({ name }) => name !== 'reason' || takeReason.has(path))
}

/** Every change accepts any text as its reason; it is tested only with some commands. */
const takeReason = new Set(['pause', 'freeze', 'enqueue', 'switch', 'token create'])

const shared: readonly Option[] = [storeOption, configOption, zoneOption]

/** Stands for the id of a run that waits. */
export const waitingRun = 'WAITING'

/** A valid command line, into which one invalid value is put. */
export interface Base {
  readonly line: readonly string[]
  /** The options that are tested with it; default: all that no other base of the command names. */
  readonly options?: readonly string[]
  /** Which of its words are tested; default: all, if no options are named. */
  readonly words?: readonly number[]
}

/** The command lines of a feature: the `corpus` of `test/corpus.ts` in its folder. */
export interface CorpusPart {
  readonly bases: Readonly<Record<string, readonly Base[]>>
  /** The place of a command that is not tested, if there is one. */
  readonly leftOut?: Readonly<Record<string, string>>
  /** Creates what its lines name, in the app before its start or in the working directory. */
  readonly prepare?: (app: App, directory: string) => Promise<void> | void
}

const folder = join(root, 'src/features')

/** The command lines of the existing features. */
export const parts: readonly CorpusPart[] = await Promise.all(
  readdirSync(folder)
    .map((feature) => join(folder, feature, 'test/corpus.ts'))
    .filter((file) => existsSync(file))
    .map(async (file) => ((await import(file)) as { corpus: CorpusPart }).corpus),
)

const leftOut = Object.assign({}, ...parts.map((part) => part.leftOut)) as Readonly<Record<string, string>>

/** A feature may add lines to a command that is not its own. */
const partBases = Object.assign({}, ...parts.map((part) => part.bases)) as CorpusPart['bases']

const bases: Readonly<Record<string, readonly Base[]>> = {
  init: [{ line: ['--yes'] }],
  up: [{ line: [], options: ['store'] }, { line: ['--store', 'sqlite:new/rota.db'] }],
  next: [{ line: ['* * * * *'] }],
  list: [{ line: [] }],
  runs: [{ line: [] }],
  show: [{ line: ['nightly'] }],
  logs: [{ line: ['x'] }],
  add: [
    {
      line: ['fresh', '--every', '1h', '--', 'true'],
      options: ['start', 'end', 'payload', 'jitter', 'spread'],
    },
    {
      line: ['fresh', '--cron', '@daily', '--replace', '--', 'true'],
      options: ['zone', 'dst', 'cwd', 'env', 'secret'],
    },
    { line: ['fresh', '--job', 'greet'], options: ['cron', 'every', 'at'] },
    { line: ['fresh', '--every', '1h', '--limit', '9', '--', 'true'], options: ['limit-per'] },
    {
      line: ['fresh', '--every', '1h', '--limit-per', '1m', '--', 'true'],
      options: ['limit', 'limit-burst'],
    },
    { line: ['fresh', '--every', '1h', '--key-limit', '9', '--', 'true'], options: ['key-limit-per'] },
    {
      line: ['fresh', '--every', '1h', '--key-limit-per', '1m', '--', 'true'],
      options: ['key-limit', 'key-limit-burst'],
    },
    { line: ['fresh', '--finished-by', '07:30', '--', 'true'], options: ['sla-zone'] },
    { line: ['fresh', '--every', '1h'], options: ['job'] },
    { line: ['fresh'], options: ['url'] },
    { line: ['fresh', '--url', 'https://example.org/'], options: ['method', 'header', 'body'] },
    { line: ['fresh', '--every', '1h', '--', 'true'] },
  ],
  remove: [{ line: ['nightly'] }],
  enqueue: [
    { line: ['greet', '--unique-key', 'k'], options: ['unique-for'] },
    { line: ['greet', '--debounce-key', 'k'], options: ['debounce'] },
    { line: ['greet', '--debounce', '1s'], options: ['debounce-key'] },
    { line: ['greet', '--debounce', '1s', '--debounce-key', 'k'], options: ['debounce-max'] },
    { line: ['greet', '--throttle-key', 'k'], options: ['throttle'] },
    { line: ['greet', '--throttle', '1s'], options: ['throttle-key'] },
    { line: ['greet'] },
  ],
  run: [{ line: ['greet', '--detach'] }],
  cancel: [{ line: ['WAITING'] }],
  retry: [{ line: ['x'] }],
  pause: [{ line: [], options: ['queue'] }, { line: ['nightly'] }],
  resume: [{ line: [], options: ['queue'] }, { line: ['nightly'] }],
  freeze: [{ line: [] }],
  thaw: [{ line: [] }],
  switch: [{ line: ['worker', 'off'] }],
  workers: [{ line: [] }],
  'workers list': [{ line: [] }],
  'workers drain': [{ line: ['x'] }],
  'workers undrain': [{ line: ['x'] }],
  mcp: [{ line: [] }],
  'token create': [{ line: ['ci'] }],
  'token list': [{ line: [] }],
  'token revoke': [{ line: ['x'] }],
  why: [{ line: ['nightly', 'today'] }],
  coverage: [{ line: ['nightly'] }],
  backfill: [
    { line: [], options: ['start', 'show', 'cancel'] },
    { line: ['nightly'], options: ['from'] },
    { line: ['nightly', '--from', '2d', '--dry-run'], options: ['to', 'only', 'definition', 'order'] },
    { line: ['nightly', '--from', '2d', '--dry-run'], options: ['concurrency', 'pace', 'limit'] },
    { line: ['nightly', '--from', '2d', '--dry-run'] },
  ],
  simulate: [{ line: ['--days', '1'] }, { line: [], options: ['days'] }],
  migrate: [
    { line: ['--to', 'sqlite:new/rota.db'], options: ['from'] },
    { line: ['--from', 'sqlite:data/rota.db'], options: ['to'] },
    { line: ['--from', 'sqlite:data/rota.db', '--to', 'sqlite:new/rota.db'] },
  ],
  doctor: [{ line: [] }],
  history: [{ line: ['nightly'] }],
  reload: [{ line: ['rota.config.yaml'] }],
  check: [{ line: ['rota.config.yaml'] }],
  lint: [{ line: ['rota.config.yaml'] }],
  diff: [{ line: ['rota.config.yaml'] }],
  completion: [{ line: ['bash'] }],
}

/** The values that are invalid in every place. */
const texts: readonly string[] = [
  '',
  'x'.repeat(1_000_000),
  'x'.repeat(3000),
  'a\u001b[31mb\r\nc\u202e',
  'a\0b',
  'a\ud800b',
]

/** Invalid values, by the name of the value in the help. */
const wrong: Readonly<Record<string, readonly string[]>> = {
  duration: ['soon', '-1s', '5 parsecs', '99999999999d'],
  time: ['soon', '2026-13-01T00:00', '25:00', '2026-02-30'],
  zone: ['Mars/Phobos', '+01:00'],
  expression: ['* * *', '61 * * * *', '0 0 30 2 *'],
  url: ['nope', 'sqlite:', 'mysql://x/y'],
  file: ['.', 'no-such-file.yaml'],
  directory: ['rota.config.yaml/x'],
  json: ['{', '@.', '@no-such-file'],
  port: ['99999', 'a:b', '-1', 'not a host:80'],
}

const takeNearlyAll = new Set([
  'reason',
  'message',
  'filter',
  'actor',
  'by',
  'command',
  'user',
  'metadata',
  'env',
  'header',
  'body',
  'cwd',
  // A summary that cannot be written is a warning only.
  'output-dir',
])

function ofOption(path: string, { line }: Base, option: Option): Case[] {
  const end = line.includes('--') ? line.indexOf('--') : line.length
  const { name } = option
  return [...texts, ...wrongFor(option)].map((value) => ({
    argv: [...path.split(' '), ...line.slice(0, end), `--${name}=${value}`, ...line.slice(end)],
    holder: `--${name}`,
    value,
    mayPass: takeNearlyAll.has(name),
  }))
}

function wrongFor({ name, value = '', whole, choices }: Option): readonly string[] {
  // A missing jobs file is created.
  if (name === 'jobs') return ['.', 'rota.config.yaml/x']
  if (choices !== undefined) return ['nope', `${choices[0]} `]
  if (whole !== undefined) {
    return [String(whole[0] - 1), String(whole[1] + 1), '1.5', '1e3', '0x10', 'NaN', ' 1']
  }
  const kind = Object.keys(wrong).find((word) => value.split(/[^a-z]/).includes(word))
  return kind === undefined ? [] : (wrong[kind] ?? [])
}

function ofWord({ command, path }: Tried, { line }: Base, index: number): Case[] {
  const isWord = (at: number): boolean =>
    line[at]?.startsWith('-') === false && line[at - 1]?.startsWith('-') !== true
  const at = [...line.keys()].filter(isWord)[index]
  if (at === undefined) throw new Error(`${path} ${line.join(' ')} has no word ${index}`)
  return texts.map((value) => ({
    argv: [...path.split(' '), ...line.with(at, value)],
    holder: `<${command.arguments?.[index]?.name}>`,
    value,
    mayPass: false,
  }))
}
