import { configOption, storeOption, zoneOption } from '../../src/cli/framework/command.js'
import type { Named } from '../../src/cli/framework/subcommand.js'
import type { Option, Syntax } from '../../src/cli/framework/syntax.js'

/** A command or subcommand with its path, such as `round start`. */
export type Tried = Named<Syntax>

/** A command line with one bad word in it. */
export interface Case {
  readonly argv: readonly string[]
  /** What holds the bad word: `--option` or `<argument>`. */
  readonly holder: string
  readonly value: string
  /** The holder takes nearly every text, so that the word may be taken. */
  readonly mayPass: boolean
}

/** Every bad word in every place of a command that takes one. */
export function casesOf(tried: Tried): Case[] {
  const { command, path } = tried
  const own = bases[path] ?? []
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

/**
 * A jobs file that cannot be read is reported, and the jobs are listed all the same; the labels of a backfill are those
 * that materialize is tried with.
 */
const leftOut: Readonly<Record<string, string>> = {
  'asset backfill': '--partition',
  'job get': '--jobs',
  'job list': '--jobs',
}

/** Which options of a command no base tries. */
export function untried(one: Tried): string[] {
  const { command } = one
  const tried = new Set(casesOf(one).map(({ holder }) => holder))
  const holders = [
    ...triedOf(one).map(({ name }) => `--${name}`),
    ...(command.arguments ?? []).map(({ name }) => `<${name}>`),
  ]
  return holders.filter((holder) => !tried.has(holder) && leftOut[one.path] !== holder)
}

/** The options with a value; those that many commands share are tried with some of them. */
function triedOf({ path, command: { options = [], run } }: Tried): Option[] {
  if (run === undefined) return []
  const areAll = ['list', 'up', 'work', 'sensor history'].includes(path)
  return options.filter((option) => option.value !== undefined && (areAll || !shared.includes(option)))
}

const shared: readonly Option[] = [storeOption, configOption, zoneOption]

/** Stands for the id of a run that waits. */
export const waitingRun = 'WAITING'

/** A queue directory that exists. */
export const madeQueue = 'made/queue'

/** A command line that works, or would, were it not for the one bad word that is put into it. */
interface Base {
  readonly line: readonly string[]
  /** The options that are tried with it; default: all that no other base of the command names. */
  readonly options?: readonly string[]
  /** Which of its words are tried; all where no options are named. */
  readonly words?: readonly number[]
}

const bases: Readonly<Record<string, readonly Base[]>> = {
  init: [{ line: ['--yes'] }],
  up: [
    { line: ['--plan', 'schedule_plan.yaml'], options: ['store'] },
    { line: ['--store', 'sqlite:new/rota.db'], options: ['plan'] },
    { line: ['--store', 'sqlite:new/rota.db', '--plan', 'schedule_plan.yaml'] },
  ],
  schedule: [
    { line: ['--queue-dir', 'new/queue'], options: ['plan'] },
    { line: ['--plan', 'schedule_plan.yaml'], options: ['queue-dir'] },
    { line: ['--plan', 'schedule_plan.yaml', '--queue-dir', 'new/queue'] },
  ],
  work: [{ line: [], options: ['queue-dir'] }, { line: ['--queue-dir', 'new/queue'] }],
  'queue list': [{ line: [] }],
  'queue show': [{ line: ['x'] }],
  'queue retry': [{ line: ['x'], options: ['queue-dir'] }, { line: ['x', '--queue-dir', madeQueue] }],
  'queue requeue': [{ line: [] }],
  'queue purge': [{ line: [] }],
  'plan check': [{ line: ['schedule_plan.yaml'] }],
  'plan enqueue': [{ line: ['schedule_plan.yaml', '96b0037ff184', '--dry-run'] }],
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
    { line: ['fresh', '--every', '1h'], options: ['job'] },
    { line: ['fresh'], options: ['url'] },
    { line: ['fresh', '--url', 'https://example.org/'], options: ['method', 'header', 'body'] },
    { line: ['fresh', '--every', '1h', '--', 'true'] },
  ],
  remove: [{ line: ['nightly'] }],
  enqueue: [{ line: ['greet', '--unique-key', 'k'], options: ['unique-for'] }, { line: ['greet'] }],
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
  why: [{ line: ['nightly', 'today'] }],
  coverage: [{ line: ['nightly'] }],
  migrate: [
    { line: ['--to', 'sqlite:new/rota.db'], options: ['from'] },
    { line: ['--from', 'sqlite:data/rota.db'], options: ['to'] },
    { line: ['--from', 'sqlite:data/rota.db', '--to', 'sqlite:new/rota.db'] },
  ],
  doctor: [{ line: [] }],
  completion: [{ line: ['bash'] }],
  'round start': [
    { line: ['laps', '-s', 'greet'], options: ['every'] },
    { line: ['laps', '--every', '1h'], options: ['service'] },
    { line: ['laps', '--every', '1h', '-s', 'greet'] },
  ],
  'round stop': [{ line: ['x'] }],
  'round status': [{ line: ['x'] }],
  'round timing': [{ line: ['greet'] }],
  'round timing set': [{ line: ['greet'], options: ['every'] }, { line: ['greet', '--every', '1h'] }],
  'round state': [{ line: ['x'] }],
  'round list': [{ line: [] }],
  'sensor list': [{ line: [] }],
  'sensor show': [{ line: ['files'] }],
  'sensor history': [{ line: ['files'] }],
  'sensor preview': [{ line: ['files'] }],
  'sensor reset': [{ line: ['files', '--keep-keys'] }],
  'sensor pause': [{ line: ['files'] }],
  'sensor resume': [{ line: ['files'] }],
  'asset list': [{ line: ['events'] }],
  'asset show': [{ line: ['events'] }],
  'asset grid': [{ line: ['events'] }],
  'asset stale': [{ line: ['events'] }],
  'asset materialize': [{ line: ['events'] }],
  'asset backfill': [
    { line: [], options: ['cancel', 'resume'] },
    { line: ['events'], options: ['partition'] },
    {
      line: ['events', '--from', '2026-01-01', '--to', '2026-01-02'],
      options: ['only', 'order', 'pace', 'limit'],
    },
    { line: ['events', '--to', '2026-01-02'], options: ['from'] },
    { line: ['events', '--from', '2026-01-01'], options: ['to'] },
    { line: ['events', '--from', '2026-01-01', '--to', '2026-01-02'] },
  ],
  'job add': [
    { line: ['--command', 'c'], options: ['schedule', 'at', 'zone'] },
    { line: ['--at', '+2h'], options: ['command'] },
    { line: ['fresh', '--at', '+2h', '--command', 'c'] },
  ],
  'job remove': [{ line: ['x'] }],
  'job get': [{ line: ['x'] }],
  'job list': [{ line: [] }],
  'job run': [{ line: ['x'] }],
  'job cleanup': [{ line: [] }],
  import: [{ line: ['jobs.jsonl', '--dry-run'] }],
  export: [{ line: ['new.jsonl'] }],
}

/** What is wrong in every place. */
const texts: readonly string[] = [
  '',
  'x'.repeat(1_000_000),
  'x'.repeat(3000),
  'a\u001b[31mb\r\nc\u202e',
  'a\0b',
  'a\ud800b',
]

/** What a value may not be, by what stands for it in the help. */
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
  'note',
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
  // A jobs file that is not there yet is made.
  if (name === 'jobs') return ['.', 'rota.config.yaml/x']
  if (choices !== undefined) return ['nope', `${choices[0]} `]
  if (whole !== undefined) {
    return [String(whole.min - 1), String(whole.max + 1), '1.5', '1e3', '0x10', 'NaN', ' 1']
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
