import type { FactCounts, MoveProgress } from '../../../app/migrate/move-store.js'
import { type Command, type Context, exitCodes, jsonOption } from '../../framework/command.js'
import { printTable } from '../../framework/print/table.js'

/** `rota migrate`: moves a store into another one. */
export const migrate: Command = {
  name: 'migrate',
  about:
    'Moves everything in a store to a new one: definitions, cursors, timing, state entries, runs, logs and the ledger; then reads both and compares them. Stop every `rota up` on the old store first. The old store stays unchanged, but frozen, so that nothing continues on it by mistake.',
  options: [
    { name: 'from', value: 'url', help: 'the store to move, such as files:./data', isRequired: true },
    { name: 'to', value: 'url', help: 'the new store, such as sqlite:data/rota.db', isRequired: true },
    { name: 'dry-run', help: 'only count what would be moved' },
    jsonOption,
  ],
  examples: {
    'rota migrate --from files:./data --to sqlite:rota.db': 'from files to SQLite',
    'rota migrate --from sqlite:rota.db --to files:./data': 'and back',
    'rota migrate --from files:./data --to sqlite:rota.db --dry-run': 'what would be moved',
  },
  run: async (context) => {
    const { args, out } = context
    const { migrateStore } = await import('../../../app/migrate/migrate-store.js')
    const isDry = args.flag('dry-run')
    const [from = '', to = ''] = [await context.storeUrl('from'), await context.storeUrl('to')]
    const onProgress = ({ phase, facts }: MoveProgress): void => out.progress(`${phase}: ${facts} facts`)
    const report = await migrateStore({ from, to, directory: context.directory, isDry, onProgress })
    out.show({ ...report, dryRun: isDry }, () => {
      printCounts(context, report.counts)
      out.say(
        isDry
          ? 'nothing was moved; leave out --dry-run to move it'
          : `moved and compared; use ${report.to} from now on. ${report.from} is frozen; \`rota thaw --store ${report.from}\` ends that`,
      )
    })
    return exitCodes.ok
  },
}

function printCounts({ out }: Context, counts: FactCounts): void {
  const all = Object.entries(counts).map(([kind, moved]) => ({ kind: titles[kind] ?? kind, moved }))
  printTable(
    out,
    all.filter(({ kind }) => kind !== 'counters'),
    ['kind', 'moved'],
  )
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
  audit: 'audit entries',
}
