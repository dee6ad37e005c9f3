import type { Hold } from '../../../kernel/hold/hold.js'
import type { Rota } from '../../../app/rota.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'
import { printTable } from '../../framework/print/table.js'
import { timesOf } from '../../framework/times-of.js'
import { holdView } from '../../views/views.js'
import { withApp } from '../../host/with-app.js'

const names = ['pipeline', 'scheduler', 'worker'] as const
const states = ['on', 'off'] as const

type Name = (typeof names)[number]

/** `rota switch`: shows or sets the kill switches that are kept in the store. */
export const killSwitch: Command = {
  name: 'switch',
  about:
    'Shows the kill switches in the store, or turns one on or off for every process: scheduler stops ticks, worker stops claims, pipeline stops both. Those of the environment (PIPELINE_ENABLED, SCHEDULER_ENABLED, WORKER_ENABLED) count for one process only.',
  arguments: [
    { name: 'name', help: 'which switch; default: show all', isOptional: true, choices: names },
    { name: 'state', help: 'what to set it to', choices: states },
  ],
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: [
    { line: 'rota switch', meaning: 'how they stand' },
    { line: 'rota switch worker off --note "disk is full"', meaning: 'nothing is claimed any more' },
    { line: 'rota switch worker on', meaning: 'go on' },
  ],
  run: async (context) => {
    const wanted = wantedOf(context)
    return await withApp(context, async (app) =>
      wanted === undefined ? await showAll(context, app) : await set(context, app, wanted),
    )
  },
}

interface Wanted {
  readonly name: Name
  readonly state: 'on' | 'off'
}

function wantedOf({ args }: Context): Wanted | undefined {
  const name = names.find((one) => one === args.optionalWord(0))
  return name === undefined ? undefined : { name, state: args.word(1) === 'on' ? 'on' : 'off' }
}

async function set(context: Context, app: Rota, { name, state }: Wanted): Promise<number> {
  const { args, out } = context
  const changed =
    state === 'off' ? await app.switches.off(name, readHold(context)) : await app.switches.on(name)
  if (args.flag('json')) out.json({ target: `switch:${name}`, state, changed })
  else out.say(changed ? `${name} is ${state}` : `${name} was ${state} already`)
  return exitCodes.ok
}

async function showAll(context: Context, app: Rota): Promise<number> {
  const { args, out } = context
  const open = await (await app.store()).holds({ openAt: app.now() })
  const rows = names.map((name) => ({ name, hold: open.find((hold) => hold.target === `switch:${name}`) }))
  if (args.flag('json')) {
    out.json(
      rows.map(({ name, hold }) => ({
        name,
        state: stateOf(hold),
        hold: hold === undefined ? null : holdView(hold),
      })),
    )
    return exitCodes.ok
  }
  const times = timesOf(context)
  printTable(out, rows, [
    { title: 'SWITCH', text: ({ name }) => name },
    {
      title: 'STATE',
      text: ({ hold }) => stateOf(hold),
      paint: ({ hold }) => (hold === undefined ? out.colors.green : out.colors.red),
    },
    { title: 'SINCE', text: ({ hold }) => (hold === undefined ? '' : times.full(hold.fromAt)) },
    { title: 'BY', text: ({ hold }) => hold?.actor ?? '', shortest: 6 },
    { title: 'NOTE', text: ({ hold }) => hold?.note ?? '', shortest: 6 },
  ])
  return exitCodes.ok
}

function stateOf(hold: Hold | undefined): 'on' | 'off' {
  return hold === undefined ? 'on' : 'off'
}
