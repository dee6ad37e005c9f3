import type { App } from '../../../app/rota.js'
import type { DebounceOptions, ThrottleOptions } from '../../../app/runs/burst.js'
import { type Command, onApp, changeOptions, zoneOption } from '../../framework/command.js'
import { payloadOption, readPayload } from '../../options/payload-option.js'
import type { Surroundings } from '../../framework/command.js'
import { momentOf } from '../../framework/times-of.js'

type Args = Surroundings['args']

/** `rota enqueue`: records a run of a job. */
export const enqueue: Command<App> = {
  name: 'enqueue',
  about:
    'Enqueues a run of a job and prints its id. If the unique key is taken, it prints the id of the run that has it.',
  arguments: [{ name: 'job', help: 'the job to run', completes: 'job' }],
  options: [
    payloadOption,
    { name: 'at', value: 'time', help: 'not before this time, such as 2026-01-05T09:00 or tomorrow' },
    { name: 'delay', value: 'duration', help: 'not before this duration has passed, such as 15m' },
    {
      name: 'priority',
      value: 'n',
      help: 'higher goes first; default: the job’s',
      whole: [-1_000_000, 1_000_000],
    },
    { name: 'unique-key', value: 'key', help: 'refuse a second run with this key while one is unfinished' },
    { name: 'unique-for', value: 'duration', help: 'how long the unique key is taken, also after the run' },
    {
      name: 'debounce',
      key: 'debounce.wait',
      value: 'duration',
      help: 'wait this long for a later enqueue, which replaces this one',
    },
    {
      name: 'debounce-key',
      key: 'debounce.key',
      value: 'key',
      help: 'the common key of the enqueues',
    },
    {
      name: 'debounce-max',
      key: 'debounce.max',
      value: 'duration',
      help: 'the longest wait after the first enqueue',
    },
    {
      name: 'throttle',
      key: 'throttle.per',
      value: 'duration',
      help: 'drop this enqueue if a run with the key is not older than this',
    },
    {
      name: 'throttle-key',
      key: 'throttle.key',
      value: 'key',
      help: 'the common key of the enqueues',
    },
    { name: 'concurrency-key', value: 'key', help: 'runs with the same key run one at a time' },
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    [`rota enqueue mail --payload '{"to":"a@example.org"}'`]: 'as soon as a worker is free',
    'rota enqueue report --payload @order.json --delay 15m': 'in a quarter of an hour',
    'rota enqueue index --debounce 10s --debounce-key shop-7': 'once, 10 seconds after the last of several',
    'rota enqueue alarm --throttle 1h --throttle-key disk': 'the first one in an hour',
    'rota enqueue sync --unique-key customer-7 --unique-for 1h': 'at most once an hour',
  },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const payload = await readPayload(context)
    const { id, created } = await app.enqueue(args.word(0), payload, {
      at: momentOf(context, 'at', 'ahead'),
      delay: args.text('delay'),
      priority: args.whole('priority'),
      uniqueKey: args.text('unique-key'),
      uniqueFor: args.text('unique-for'),
      debounce: given<DebounceOptions>({
        key: args.text('debounce-key'),
        wait: args.text('debounce'),
        max: args.text('debounce-max'),
      }),
      throttle: given<ThrottleOptions>({ key: args.text('throttle-key'), per: args.text('throttle') }),
      concurrencyKey: args.text('concurrency-key'),
      dryRun: args.flag('dry-run'),
    })
    out.show({ id, created }, () => {
      out.line(id)
      if (!created) out.note(`this run already exists: ${existingText(args)}`)
    })
  }),
}

/** The options of debounce or throttle as they were written; the kernel reports missing ones. */
function given<Rule>(options: Readonly<Record<string, string | undefined>>): Rule | undefined {
  return Object.values(options).every((value) => value === undefined) ? undefined : (options as Rule)
}

function existingText(args: Args): string {
  if (args.flag('debounce')) return 'it waited with this debounce key, and now has this payload'
  return args.flag('throttle') ? 'it is not older than the throttle' : 'its unique key is taken'
}
