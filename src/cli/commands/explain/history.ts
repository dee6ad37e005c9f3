import { history as changes } from '../../../app/api/history.js'
import type { App } from '../../../app/rota.js'
import { auditView } from '../../../wire/views/audit.js'
import { type Command, storeOptions, zoneOption } from '../../framework/command.js'
import { assertName } from '../../framework/names.js'
import { onStore } from '../../host/on-store.js'
import { printList } from '../../framework/print/table.js'
import { momentOf } from '../../framework/times-of.js'

/** `rota history`: who changed what. */
export const history: Command<App> = {
  name: 'history',
  about:
    'Lists the changes that people and programs made, newest first: by commands, through the HTTP API, by code, and by the start of a program whose definitions changed. Each entry was written in the transaction of its change. `rota runs` and `rota why` show what runs and ticks did. Entries are kept for 400 days, at most 100,000.',
  arguments: [
    {
      name: 'name',
      help: 'a trigger, job, queue, switch, worker, token or run; default: everything',
      isOptional: true,
      completes: 'trigger',
    },
  ],
  options: [
    { name: 'actor', value: 'name', help: 'only changes by this user, token or program' },
    { name: 'action', value: 'action', help: 'only these changes, such as run.retry' },
    { name: 'since', value: 'time', help: 'only changes since then, such as 2h or 2026-01-05' },
    { name: 'limit', short: 'n', value: 'n', help: 'how many; default: 20', whole: [1, 10_000] },
    zoneOption,
    ...storeOptions,
  ],
  examples: {
    'rota history': 'the newest twenty changes',
    'rota history nightly': 'who changed or paused a trigger, and why',
    'rota history --action run.retry --since 24h': 'what was retried in the last day',
    'rota history --actor ann --json': 'with the state before and after',
  },
  run: onStore(async (reader, context) => {
    const { args, out } = context
    const name = args.optionalWord(0)
    const [actor, action, since] = [
      args.text('actor'),
      args.text('action'),
      momentOf(context, 'since', 'ago'),
    ]
    if (name !== undefined) assertName(name, '<name>')
    if (action !== undefined) assertName(action, '--action')
    const isFiltered = [name, actor, action, since].some((one) => one !== undefined)
    const filter = { name, actor, action, since, limit: args.whole('limit') ?? 20 }
    const found = await changes(await reader.store(), filter)
    printList(out, found, {
      empty: isFiltered
        ? 'no such change was recorded; `rota history` lists all'
        : 'no changes yet; `rota pause nightly --reason "migration"` would be one',
      columns: [
        { key: 'at', title: 'WHEN (zone)' },
        { key: 'actor', title: 'WHO' },
        'via',
        'action',
        'target',
        'reason',
      ],
      json: auditView,
    })
  }),
}
