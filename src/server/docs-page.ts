/** The page of the API reference: one static document without scripts, generated from the routes. */
import { createHash } from 'node:crypto'
import type { Route, RouteExample, Shape } from '../wire/route.js'
import { safeHeaders } from './answer.js'
import { apiPath } from './handler.js'
import { refusals } from './problem.js'

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; padding-bottom: .25rem }
h3 { font: 600 1rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: .25rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top }
nav ul { columns: 3 12rem; padding-left: 1rem }`

/** Only this style may apply, and nothing may run or be loaded. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** Answers with the page of these routes. */
export function docsAnswer(routes: readonly Route[], version: string): Response {
  return new Response(docsPage(routes, version), {
    headers: {
      ...safeHeaders,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    },
  })
}

function docsPage(routes: readonly Route[], version: string): string {
  const shared = routes.filter(({ isPrivate }) => isPrivate !== true)
  const groups = [...new Set(shared.map(({ group }) => group))]
  const links = groups.map((group) => `<li><a href="#${idOf(group)}">${escaped(group)}</a></li>`)
  const sections = groups.map((group) => section(group, shared))
  const codes = Object.entries(refusals).map(
    ([code, { status, todo }]) =>
      `<tr><td><code>${code}</code></td><td>${status}</td><td>${escaped(todo)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rota: HTTP API</title>
<style>${style}</style>
<h1>HTTP API of Rota ${escaped(version)}</h1>
<p>The schemas of all requests and answers are in the <a href="openapi.json">OpenAPI document</a>.</p>
<nav aria-label="Groups"><ul>${links.join('')}<li><a href="#refusals">Refusals</a></li></ul></nav>
<main>
${sections.join('\n')}
<h2 id="refusals">Refusals</h2>
<table><thead><tr><th>code</th><th>status</th><th>what to do</th></tr></thead><tbody>${codes.join('')}</tbody></table>
</main>
</html>
`
}

function section(group: string, routes: readonly Route[]): string {
  const own = routes.filter((route) => route.group === group)
  return `<h2 id="${idOf(group)}">${escaped(group)}</h2>\n${own.map(routeText).join('\n')}`
}

function routeText({ method, path, role, summary, about, query, body, example }: Route): string {
  const told = [summary, about, `Role: ${role}.`].filter(Boolean).join(' ')
  return [
    `<h3>${method} ${escaped(path)}</h3>`,
    `<p>${marked(told)}</p>`,
    fieldsText('Query', query),
    fieldsText('Body', body),
    example === undefined ? '' : `<pre>${escaped(exampleText(method, path, example))}</pre>`,
  ].join('\n')
}

function fieldsText(title: string, shape: Shape | undefined): string {
  if (shape === undefined) return ''
  const names = Object.keys(shape.shape).map((key) => `<code>${escaped(key)}</code>`)
  return names.length === 0 ? '' : `<p>${title}: ${names.join(', ')}</p>`
}

function exampleText(method: string, path: string, { parts = {}, query = {}, body }: RouteExample): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, part: string) => parts[part] ?? `<${part}>`)
  const search = new URLSearchParams(query).toString()
  const line = `${method} ${apiPath}${filled}${search === '' ? '' : `?${search}`}`
  return body === undefined ? line : `${line}\n\n${JSON.stringify(body, undefined, 2)}`
}

/** Text with `code` in backticks. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function idOf(group: string): string {
  return group.toLowerCase().replaceAll(/\W+/g, '-')
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
