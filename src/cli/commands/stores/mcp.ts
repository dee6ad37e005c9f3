import type { AuthorizedCaller } from '../../../app/serve/app-handler.js'
import { allRoutes } from '../../../app/serve/served.js'
import type { App } from '../../../app/rota.js'
import { packageVersion } from '../../../formats/version.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { serveMcp } from '../../../server/mcp/mcp-server.js'
import { type Command, configOption, type Ended, storeOption } from '../../framework/command.js'
import { userOf } from '../../framework/author-of.js'
import { roleOf } from '../../options/access-role.js'
import { untilSignal } from '../../framework/until-signal.js'

/** `rota mcp`: lets agents use a store through the Model Context Protocol. */
export const mcp: Command<App> = {
  name: 'mcp',
  about:
    'Serves the Model Context Protocol on standard input and output, for agents. An agent can list, explain and read logs; with --role operate it can also enqueue, retry, cancel, run, pause and resume, each with a reason. Needs the package @modelcontextprotocol/sdk.',
  options: [
    { name: 'role', value: 'role', help: 'read or operate; default: read' },
    storeOption,
    configOption,
  ],
  examples: {
    'rota mcp': 'agents can read and explain',
    'rota mcp --role operate --store sqlite:data/rota.db': 'they can also retry and pause',
  },
  run: async (context) => {
    const role = roleOf(context.args.text('role') ?? 'read', 'mcp')
    const actor = `mcp:${userOf(context)}`
    return await context.withApp((app) => serveAgents(app, { actor, role }))
  },
}

async function serveAgents(app: App, caller: AuthorizedCaller): Ended {
  const handler = app.handler({ authorize: () => caller })
  const options = {
    routes: await allRoutes({ isMounted: true }),
    fetch: handler,
    role: caller.role,
    version: packageVersion,
    input: process.stdin,
    output: process.stdout,
  }
  try {
    return await untilSignal((signal) => serveMcp(options, signal))
  } catch (error) {
    throw isMissing(error) ? missing(error) : error
  } finally {
    await handler.close()
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
}

function missing(cause: unknown): RotaError {
  const message =
    'rota mcp needs the package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk'
  return new RotaError('PACKAGE_MISSING', message, { cause })
}
