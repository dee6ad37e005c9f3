import { changeOptions, type Command, onApp, storeOptions, zoneOption } from '../../cli/framework/command.js'
import { printList } from '../../cli/framework/print/table.js'
import type { BulkApp } from './api.js'
import { bulkView, progressText } from './views.js'

const idArgument = { name: 'id', help: 'the id of a bulk action' }

const list: Command<BulkApp> = {
  name: 'list',
  summary: 'list the actions of the last thirty days',
  examples: { 'rota bulk list': 'what was done, the newest first' },
  options: [zoneOption, ...storeOptions],
  run: onApp(async (app, { out }) => {
    printList(out, await app.bulk.list(), {
      columns: [
        'id',
        { key: 'createdAt', title: 'began (zone)' },
        'state',
        'by',
        { title: 'result', text: progressText, shortest: 20 },
      ],
      empty: 'no bulk action in the last thirty days',
      json: bulkView,
    })
  }),
}

const show: Command<BulkApp> = {
  name: 'show',
  summary: 'show one action and its progress',
  examples: { 'rota bulk show 01k9w8m2v4abcdef': 'how many are done and left' },
  arguments: [idArgument],
  options: [zoneOption, ...storeOptions],
  run: onApp(async (app, { args, out }) => {
    const found = await app.bulk.get(args.word(0))
    out.show(bulkView(found), () => {
      out.line(`${found.id}  ${found.state}  ${progressText(found)}`)
      out.line(`runs: ${found.filter ?? `${found.total} ids`}`)
      out.line(`by ${found.by}${found.reason === null ? '' : `: ${found.reason}`}`)
      for (const { run, message } of found.errors) out.line(`  ${run}  ${message}`)
    })
  }),
}

const abort: Command<BulkApp> = {
  name: 'abort',
  summary: 'stop an action; its changes stay',
  examples: { 'rota bulk abort 01k9w8m2v4abcdef': 'do not change the other runs' },
  arguments: [idArgument],
  options: changeOptions,
  run: onApp(async (app, { args, out }) => {
    const { bulk: ended, wasRunning } = await app.bulk.abort(args.word(0), {
      dryRun: args.flag('dry-run'),
    })
    const text = wasRunning
      ? `aborted ${ended.id}: ${progressText(ended)}`
      : `${ended.id} is already ${ended.state}`
    out.show({ ...bulkView(ended), wasRunning }, text)
  }),
}

/** `rota bulk`: the actions on many runs. */
export const bulk: Command<BulkApp> = {
  name: 'bulk',
  about:
    'Lists, shows and aborts actions on many runs. `rota retry`, `rota cancel` and `rota run` begin one when they are given a filter instead of a run.',
  subcommands: [list, show, abort],
  examples: {
    'rota bulk list': 'what was done',
    'rota bulk abort 01k9w8m2v4abcdef': 'stop one',
  },
}
