// The files that are generated from the routes of the API, by path.
import { allRoutes } from '../dist/app/serve/served.js'
import { packageVersion } from '../dist/formats/version.js'
import { openApiDocument } from '../dist/server/openapi.js'
import { refusals } from '../dist/server/problem.js'
import { operationsText } from './operations.mjs'

const opening = `# HTTP API

\`rota up\` serves these routes at \`http://127.0.0.1:7070/api/v1\`; \`app.handler()\` mounts them in any server. See [serving](../guides/serving.md).

- Instants are ISO texts in UTC. A field without a value is null; no field is left out.
- Requests with a body are JSON with the content type \`application/json\`. A query or body with an unknown field is refused.
- Most changes take \`reason\` (why: a pause, a freeze and a cancellation keep it) and \`dryRun\`: with \`dryRun: true\` the answer shows what would change, and nothing changes.
- A list has \`items\`, \`next\` and \`total\`. Pass \`next\` as \`after\` to read the next page. A total that is \`capped\` means "at least".
- A refused request has the content type \`application/problem+json\`, with \`code\`, \`detail\`, \`todo\` and \`errors\`. Its \`code\` is below, or one of the [error codes](errors.md).
- The role of a route is the least that may use it: \`read\`, \`operate\` or \`admin\`.

The [OpenAPI document](openapi.json) has the schemas of all requests and answers. \`rota/client\` is a typed client:

\`\`\`ts
import { createClient } from 'rota/client'

const rota = createClient({ url: 'http://127.0.0.1:7070' })
const { items } = await rota('GET /runs', { query: { state: 'failed' } })
\`\`\`
`

/** The text of each file. */
export async function apiFiles() {
  const routes = await allRoutes({ isMounted: false })
  const shared = routes.filter(({ isPrivate }) => isPrivate !== true)
  const document = openApiDocument(shared, packageVersion)
  // The OpenAPI document has only public routes; this file is for the dashboard of this repository.
  const own = routes.filter((one) => one.isPrivate === true).map((one) => ({ ...one, isPrivate: false }))
  return {
    'docs/reference/openapi.json': `${JSON.stringify(document, undefined, 2)}\n`,
    'docs/reference/http-api.md': page(shared),
    'src/client/operations.ts': operationsText(document, 'Operations'),
    'src/client/ui-operations.ts': operationsText(openApiDocument(own, packageVersion), 'UiOperations'),
  }
}

function page(routes) {
  const groups = [...new Set(routes.map(({ group }) => group))]
  const codes = Object.entries(refusals).map(
    ([code, { status, todo }]) => `| \`${code}\` | ${status} | ${todo} |`,
  )
  return [
    opening,
    ...groups.map((group) =>
      section(
        group,
        routes.filter((one) => one.group === group),
      ),
    ),
    `## Refusals\n\n| code | status | what to do |\n|---|---|---|\n${codes.join('\n')}\n`,
  ].join('\n')
}

function section(group, routes) {
  return `## ${group}\n\n${routes.map(routeText).join('\n')}`
}

function routeText({ method, path, role, summary, about, query, body, example }) {
  const lines = [
    `### ${method} ${path}`,
    '',
    `${summary}${about === undefined ? '' : ` ${about}`} Role: ${role}.`,
    '',
  ]
  const fields = (title, shape) => {
    if (shape !== undefined)
      lines.push(
        `${title}: ${Object.keys(shape.shape)
          .map((key) => `\`${key}\``)
          .join(', ')}.`,
        '',
      )
  }
  fields('Query', query)
  fields('Body', body)
  if (example !== undefined) lines.push('```sh', curl(method, path, example), '```', '')
  return lines.join('\n')
}

function curl(method, path, { parts = {}, query = {}, body }) {
  const filled = path.replace(/\{(\w+)\}/g, (_, part) => parts[part] ?? `<${part}>`)
  const search = new URLSearchParams(query).toString()
  const url = `http://127.0.0.1:7070/api/v1${filled}${search === '' ? '' : `?${search}`}`
  if (body === undefined) return method === 'GET' ? `curl '${url}'` : `curl -X ${method} '${url}'`
  return `curl -X ${method} -H 'content-type: application/json' -d '${JSON.stringify(body)}' '${url}'`
}
