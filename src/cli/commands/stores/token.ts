import type { App } from '../../../app/rota.js'
import { changeRecord, type AskedAudit } from '../../../engine/audit-change.js'
import {
  createToken,
  isTokenName,
  listTokens,
  newTokenId,
  plannedToken,
  revokeToken,
  tokenAudit,
} from '../../../server/access/tokens.js'
import type { Store } from '../../../store/port.js'
import { authorOf } from '../../framework/author-of.js'
import {
  type Command,
  onApp,
  type Surroundings,
  changeOptions,
  storeOptions,
  zoneOption,
} from '../../framework/command.js'
import { assertName } from '../../framework/names.js'
import { printList } from '../../framework/print/table.js'
import { momentOf } from '../../framework/times-of.js'
import { roleOf } from '../../options/access-role.js'
import { usageError } from '../../framework/usage-error.js'

const create: Command<App> = {
  name: 'create',
  summary: 'create a token and print it once',
  about: 'Creates a token for the HTTP API. It is printed once; only its hash is kept.',
  arguments: [{ name: 'name', help: 'the owner; changes are recorded under this name' }],
  options: [
    { name: 'role', value: 'role', help: 'read, operate or admin; default: read' },
    { name: 'expires', value: 'when', help: 'when it expires; default: never' },
    zoneOption,
    ...changeOptions,
  ],
  examples: {
    'rota token create ci --role operate': 'a token that may run, retry and pause',
    'rota token create grafana --expires 90d': 'a token that reads, for three months',
  },
  run: onApp(async (app, context) => {
    const { args, out } = context
    assertName(args.word(0), '<name>')
    assertTokenName(args.word(0))
    const expiresAt = momentOf(context, 'expires', 'ahead')?.getTime()
    const request = {
      name: args.word(0),
      role: roleOf(args.text('role') ?? 'read', 'token create'),
      expiresAt,
      now: app.now(),
    }
    const id = newTokenId()
    if (args.flag('dry-run'))
      return out.show(plannedToken({ id, ...request }), `created a token for ${request.name}`)
    const made = await createToken(await audited(app, context, tokenAudit('token.create', id)), {
      id,
      ...request,
    })
    out.show(made, made.token)
    if (!out.isJson) out.note('keep it: it cannot be shown again')
  }),
}

const list: Command<App> = {
  name: 'list',
  summary: 'list the tokens',
  options: [zoneOption, ...storeOptions],
  examples: { 'rota token list': 'who has which role' },
  run: onApp(async (app, { out }) => {
    printList(out, await listTokens(await app.store()), {
      empty: 'no tokens yet; `rota token create` creates one',
      columns: [
        'id',
        'name',
        'role',
        { key: 'createdAt', title: 'CREATED (zone)' },
        { key: 'expiresAt', title: 'EXPIRES' },
      ],
    })
  }),
}

const revoke: Command<App> = {
  name: 'revoke',
  summary: 'end a token and its sessions',
  arguments: [{ name: 'id', help: 'the id of the token, as `rota token list` shows it' }],
  options: changeOptions,
  examples: { 'rota token revoke 3f9c2a1b77d0': 'it can no longer be used' },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const store = await audited(app, context, tokenAudit('token.revoke', args.word(0)))
    const dryRun = args.flag('dry-run')
    const revoked = await revokeToken(store, { id: args.word(0), now: app.now(), dryRun })
    out.show(revoked, `revoked the token of ${revoked.name}`)
  }),
}

function assertTokenName(name: string): void {
  if (isTokenName(name)) return
  const message = `${JSON.stringify(name)} stands for callers without a token`
  throw usageError([{ path: '<name>', message, allowed: 'any other name' }], 'see `rota token create --help`')
}

async function audited(app: App, context: Surroundings, audit: AskedAudit): Promise<Store> {
  const record = changeRecord([audit], { options: {}, author: authorOf(context), now: app.now() })
  return (await app.store()).audited(record)
}

/** `rota token`: manages who may use the HTTP API. */
export const token: Command<App> = {
  name: 'token',
  about:
    'Tokens identify users of the HTTP API, and say what they may do: read, operate (run, retry, pause), or admin.',
  examples: { 'rota token create ci --role operate': 'a token that may run, retry and pause' },
  subcommands: [create, list, revoke],
}
