import type { App } from '../../../app/rota.js'
import {
  type Command,
  onApp,
  type Surroundings,
  changeOptions,
  storeOptions,
  zoneOption,
} from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/options/hold-options.js'
import type { Option } from '../../framework/syntax.js'
import { usageError } from '../../framework/usage-error.js'

const queueOption: Option = { name: 'queue', value: 'name', help: 'a queue instead of a trigger' }

/** `rota pause`: pauses a trigger or a queue. */
export const pause: Command<App> = {
  name: 'pause',
  about:
    'Stops the ticks of a trigger, or the claims from a queue. Running runs continue. Instants that are due during the pause are recorded as paused and stay skipped, unless `rota resume --catch-up` catches up.',
  arguments: [{ name: 'trigger', help: 'the trigger to pause', isOptional: true, completes: 'trigger' }],
  options: [queueOption, ...holdOptions, zoneOption, ...storeOptions],
  examples: {
    'rota pause nightly --reason "migration" --until 2h': 'for two hours, with a reason',
    'rota pause --queue mail': 'claim nothing from a queue',
  },
  run: onApp(async (app, context) => {
    const { kind, name } = oneTarget(context)
    const changed = await (kind === 'queue' ? app.queues : app.triggers).pause(name, readHold(context))
    const text = changed ? `paused ${kind} ${name}` : `${kind} ${name} was already paused`
    context.out.show({ target: `${kind}:${name}`, changed }, text)
  }),
}

/** `rota resume`: resumes a trigger or a queue. */
export const resume: Command<App> = {
  name: 'resume',
  about:
    'Ends a pause. Instants that were due during it stay skipped; with --catch-up the catch-up policy of the trigger applies to them, as after a downtime.',
  arguments: [{ name: 'trigger', help: 'the trigger to resume', isOptional: true, completes: 'trigger' }],
  options: [
    queueOption,
    { name: 'catch-up', help: 'catch up on what was due during the pause' },
    ...changeOptions,
  ],
  examples: {
    'rota resume nightly': 'continue from now',
    'rota resume nightly --catch-up': 'and catch up',
    'rota resume --queue mail': 'claim from a queue again',
  },
  run: onApp(async (app, context) => {
    const { kind, name } = oneTarget(context)
    const catchUp = context.args.flag('catch-up')
    const dryRun = context.args.flag('dry-run')
    const changed =
      kind === 'queue'
        ? await app.queues.resume(name, { dryRun })
        : await app.triggers.resume(name, { catchUp, dryRun })
    const text = changed ? `resumed ${kind} ${name}` : `${kind} ${name} was not paused`
    context.out.show({ target: `${kind}:${name}`, changed }, text)
  }),
}

/** The trigger or queue that the command line names. */
function oneTarget({ args }: Surroundings): { readonly kind: 'trigger' | 'queue'; readonly name: string } {
  const trigger = args.optionalWord(0)
  const queue = args.text(queueOption.name)
  if (trigger !== undefined && queue === undefined) return { kind: 'trigger', name: trigger }
  if (queue !== undefined && trigger === undefined) return { kind: 'queue', name: queue }
  const message = trigger === undefined ? 'missing argument <trigger>' : 'cannot be combined with --queue'
  throw usageError([{ path: '<trigger>', message }], 'name a trigger, or a queue with --queue')
}

/** `rota freeze`: pauses everything. */
export const freeze: Command<App> = {
  name: 'freeze',
  about: 'Stops all ticks and all claims of every process on the store. Running runs continue.',
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: { 'rota freeze --reason "incident 12" --until 30m': 'for half an hour' },
  run: onApp(async (app, context) => {
    const changed = await app.freeze(readHold(context))
    const text = changed ? 'froze everything; `rota thaw` ends it' : 'everything was already frozen'
    context.out.show({ target: 'all', changed }, text)
  }),
}

/** `rota thaw`: ends a freeze. */
export const thaw: Command<App> = {
  name: 'thaw',
  about:
    'Ends a freeze. Instants that were due during it stay skipped; with --catch-up the catch-up policy of each trigger applies to them.',
  options: [{ name: 'catch-up', help: 'catch up on what was due during the freeze' }, ...changeOptions],
  examples: { 'rota thaw --catch-up': 'resume, and catch up' },
  run: onApp(async (app, { args, out }) => {
    const changed = await app.thaw({ catchUp: args.flag('catch-up'), dryRun: args.flag('dry-run') })
    out.show({ target: 'all', changed }, changed ? 'resumed everything' : 'nothing was frozen')
  }),
}
