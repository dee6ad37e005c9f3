import type { FactCounts, MoveProgress } from '../../../app/migrate/move-store.js'
import { checkStoreUrl } from '../../../formats/store-url.js'
import { type Command, type Context, exitCodes, jsonOption } from '../../framework/command.js'
import { readAs } from '../../framework/option-names.js'
import { printTable } from '../../framework/print/table.js'
import { usageError } from '../../framework/usage-error.js'

/** `rota migrate`: moves a store into another one. */
export const migrate: Command = {
  name: 'migrate',
  about:
    'Moves everything a store knows into a new one: definitions, cursors, timing, notes, runs, logs and the ledger; then reads both and compares them. Stop every `rota up` on the old store first. The old store stays as it is, but frozen, so that nobody goes on with it by mistake.',
  arguments: [],
  options: [
    { name: 'from', value: 'url', help: 'the store to move, as in files:./data' },
    { name: 'to', value: 'url', help: 'the new store, as in sqlite:data/rota.db' },
    { name: 'dry-run', help: 'only count what would be moved' },
    jsonOption,
  ],
  examples: [
    { line: 'rota migrate --from files:./data --to sqlite:rota.db', meaning: 'from files to SQLite' },
    { line: 'rota migrate --from sqlite:rota.db --to files:./data', meaning: 'and back' },
    {
      line: 'rota migrate --from files:./data --to sqlite:rota.db --dry-run',
      meaning: 'what would be moved',
    },
  ],
  run: async (context) => {
    const { args, out } = context
    const { migrateStore } = await import('../../../app/migrate/migrate-store.js')
    const isDry = args.flag('dry-run')
    const report = await migrateStore({
      ...storesOf(context),
      directory: context.directory,
      isDry,
      onProgress: progressOn(context),
    })
    if (args.flag('json')) out.json({ ...report, dryRun: isDry })
    else {
      printCounts(context, report.counts)
      out.say(
        isDry
          ? 'nothing was moved; leave out --dry-run to move it'
          : `moved and compared; use ${report.to} from now on. ${report.from} is frozen; \`rota thaw --store ${report.from}\` lets it go on`,
      )
    }
    return exitCodes.ok
  },
}

/** Both must be named: a default here could move the wrong store. */
function storesOf({ args }: Context): { from: string; to: string } {
  const [from, to] = [args.text('from'), args.text('to')]
  if (from !== undefined && to !== undefined) {
    return { from: readAs('--from', () => checkStoreUrl(from)), to: readAs('--to', () => checkStoreUrl(to)) }
  }
  const missing = [from === undefined ? '--from' : '', to === undefined ? '--to' : ''].filter(
    (name) => name !== '',
  )
  const faults = missing.map((name) => ({
    path: name,
    message: 'it is missing',
    allowed: 'sqlite:<path>, files:<directory> or postgres://…',
  }))
  throw usageError(faults, '`rota migrate --help` shows how it is called')
}

function printCounts({ out }: Context, counts: FactCounts): void {
  const rows = Object.entries(counts).filter(([kind]) => kind !== 'counters')
  printTable(out, rows, [
    { title: 'KIND', text: ([kind]) => titles[kind] ?? kind },
    { title: 'MOVED', text: ([, count]) => String(count), isRight: true },
  ])
}

const titles: Readonly<Record<string, string>> = {
  queue: 'queues',
  job: 'jobs',
  worker: 'workers, past',
  hold: 'holds',
  trigger: 'triggers',
  run: 'runs',
  log: 'logs',
  range: 'ledger ranges',
  note: 'notes',
  seen: 'seen keys',
}

/** One line that is written over while somebody watches; nothing where nobody does. */
function progressOn({ out }: Context): (progress: MoveProgress) => void {
  return ({ phase, facts }) => out.progress(`${phase}: ${facts} facts`)
}
