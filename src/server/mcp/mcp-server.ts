/**
 * Rota as a server of the Model Context Protocol. A tool call is a request to the HTTP API, so an agent passes the same
 * checks as every caller: its role, the schema of its arguments, and the audit of its changes.
 */
import type { Readable, Writable } from 'node:stream'
import type { Role } from '../../wire/role.js'
import type { Route } from '../../wire/route.js'
import { problemAnswer, toResponse } from '../answer.js'
import type { FetchHandler } from '../handler.js'
import { requestOf, toolOf, toolRoutes } from './tools.js'

/** The options of the server. */
export interface McpOptions<App> {
  readonly routes: readonly Route<App>[]
  /** Answers the requests of tool calls. */
  readonly fetch: FetchHandler
  readonly role: Role
  readonly version: string
  readonly input: Readable
  readonly output: Writable
}

/** A longer answer is truncated: an agent pays for every character. */
const mostCharacters = 100_000

const instructions =
  'Rota is a durable scheduler. Every due instant of a trigger became a run or has a recorded reason: ask `why` for one trigger and a time range, `coverage` for proof that none is missing, `list_runs` and `read_log` for what happened. Instants are ISO text in UTC. Ids of runs may be shortened to their beginning.'

/** Serves until the input ends or the signal aborts. */
export async function serveMcp<App>(options: McpOptions<App>, signal: AbortSignal): Promise<void> {
  const [{ McpServer }, { StdioServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const { input, output, version } = options
  const routes = toolRoutes(options.routes, options.role)
  const mcp = new McpServer({ name: 'rota', version }, { capabilities: { tools: {} }, instructions })
  mcp.server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: [...routes].map(([name, route]) => toolOf(name, route)),
  }))
  mcp.server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const response = await answerOf(options, routes.get(params.name), params)
    return {
      content: [{ type: 'text' as const, text: shortened(await response.text()) }],
      isError: !response.ok,
    }
  })
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve)
    input.once('close', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await mcp.connect(new StdioServerTransport(input, output))
  await ended
  await mcp.close()
}

async function answerOf<App>(
  { fetch, role }: McpOptions<App>,
  route: Route<App> | undefined,
  { name, arguments: given = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<Response> {
  if (route === undefined) {
    const detail = `there is no tool ${JSON.stringify(name)} for the role ${role}`
    return Response.json({ code: 'TOOL_UNKNOWN', detail }, { status: 404 })
  }
  try {
    return await fetch(requestOf(route, given))
  } catch (error) {
    return toResponse(problemAnswer(error))
  }
}

function shortened(text: string): string {
  if (text.length <= mostCharacters) return text
  const note = `cut after ${mostCharacters} of ${text.length} characters; ask for a smaller \`limit\``
  return `${text.slice(0, mostCharacters)}\n[${note}]`
}
