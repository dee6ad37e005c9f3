import type { App } from '../../../app/rota.js'
import { type Command, type Context, onApp, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/options/hold-options.js'
import { printList } from '../../framework/print/table.js'
import { holdView } from '../../../wire/views/definitions.js'

const names = ['pipeline', 'scheduler', 'worker'] as const
const states = ['on', 'off'] as const

/** `rota switch`: shows or sets the kill switches in the store. */
export const killSwitch: Command<App> = {
  name: 'switch',
  about:
    'Shows the kill switches in the store, or turns one on or off for every process: scheduler stops ticks, worker stops claims, pipeline stops both. The switches of the environment (PIPELINE_ENABLED, SCHEDULER_ENABLED, WORKER_ENABLED) apply to one process only.',
  arguments: [
    { name: 'name', help: 'which switch; default: show all', isOptional: true, choices: names },
    { name: 'state', help: 'what to set it to', choices: states },
  ],
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: {
    'rota switch': 'show all',
    'rota switch worker off --reason "disk is full"': 'claim nothing any more',
    'rota switch worker on': 'claim again',
  },
  run: onApp(async (app, context) => {
    const name = names.find((one) => one === context.args.optionalWord(0))
    await (name === undefined ? showAll(context, app) : set(context, app, name))
  }),
}

async function set(context: Context<App>, app: App, name: (typeof names)[number]): Promise<void> {
  const state = context.args.word(1)
  const hold = readHold(context)
  const changed = await (state === 'off'
    ? app.switches.off(name, hold)
    : app.switches.on(name, { dryRun: hold.dryRun }))
  const text = changed ? `switched ${name} ${state}` : `${name} was already ${state}`
  context.out.show({ target: `switch:${name}`, state, changed }, text)
}

async function showAll({ out }: Context<App>, app: App): Promise<void> {
  const open = await (await app.store()).holds({ openAt: app.now() })
  const rows = names.map((name) => {
    const hold = open.find(({ target }) => target === `switch:${name}`)
    return { name, state: hold === undefined ? 'on' : 'off', hold: hold && holdView(hold) }
  })
  printList(out, rows, {
    empty: '',
    columns: [
      { key: 'name', title: 'SWITCH' },
      { key: 'state', colors: { on: 'green', off: 'red' } },
      { title: 'SINCE', text: ({ hold }, times) => hold && times.full(hold.fromAt) },
      { title: 'BY', text: ({ hold }) => hold?.by, shortest: 6 },
      { title: 'NOTE', text: ({ hold }) => hold?.note, shortest: 6 },
    ],
  })
}
