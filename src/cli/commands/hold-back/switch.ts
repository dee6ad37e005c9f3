import type { App } from '../../../app/rota.js'
import { type Command, type Context, exitCodes, storeOptions, zoneOption } from '../../framework/command.js'
import { holdOptions, readHold } from '../../framework/hold-options.js'
import { printList } from '../../framework/print/list.js'
import { holdView } from '../../views/views.js'

const names = ['pipeline', 'scheduler', 'worker'] as const
const states = ['on', 'off'] as const

/** `rota switch`: shows or sets the kill switches that are kept in the store. */
export const killSwitch: Command<App> = {
  name: 'switch',
  about:
    'Shows the kill switches in the store, or turns one on or off for every process: scheduler stops ticks, worker stops claims, pipeline stops both. The switches of the environment (PIPELINE_ENABLED, SCHEDULER_ENABLED, WORKER_ENABLED) apply to one process only.',
  arguments: [
    { name: 'name', help: 'which switch; default: show all', isOptional: true, choices: names },
    { name: 'state', help: 'what to set it to', choices: states },
  ],
  options: [...holdOptions, zoneOption, ...storeOptions],
  examples: [
    { line: 'rota switch', meaning: 'show all' },
    { line: 'rota switch worker off --note "disk is full"', meaning: 'claim nothing any more' },
    { line: 'rota switch worker on', meaning: 'claim again' },
  ],
  run: (context) =>
    context.withApp(async (app) => {
      const name = names.find((one) => one === context.args.optionalWord(0))
      return name === undefined ? await showAll(context, app) : await set(context, app, name)
    }),
}

async function set(context: Context<App>, app: App, name: (typeof names)[number]): Promise<number> {
  const state = context.args.word(1)
  const changed =
    state === 'off' ? await app.switches.off(name, readHold(context)) : await app.switches.on(name)
  const text = changed ? `switched ${name} ${state}` : `${name} was ${state} already`
  context.out.show({ target: `switch:${name}`, state, changed }, text)
  return exitCodes.ok
}

async function showAll({ out }: Context<App>, app: App): Promise<number> {
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
      { title: 'SINCE', text: ({ hold }, times) => (hold === undefined ? '' : times.full(hold.fromAt)) },
      { title: 'BY', text: ({ hold }) => hold?.by ?? '', shortest: 6 },
      { title: 'NOTE', text: ({ hold }) => hold?.note ?? '', shortest: 6 },
    ],
  })
  return exitCodes.ok
}
