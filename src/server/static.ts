/**
 * The files of the dashboard. They are listed and read once, so that no path of a request ever reaches the disk. They
 * are the same for every caller and contain no data, so they need no token.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Connection } from '../wire/route.js'
import { safeHeaders } from './answer.js'

/** Answers a request for a file of the dashboard; undefined if there is none. */
export type StaticFiles = (request: Request, connection: Connection) => Promise<Response | undefined>

interface StaticFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly packed: Uint8Array<ArrayBuffer> | undefined
  readonly etag: string
  readonly type: string
  /** Whether its name contains a hash of its content. */
  readonly isHashed: boolean
}

/** Where the build puts the dashboard. */
export const dashboardFolder = new URL(
  'dist/dashboard/',
  pathToFileURL(createRequire(import.meta.url).resolve('#package')),
)

/** Serves the files of a folder below any path; the first request reads them. */
export function staticFiles(folder: URL): StaticFiles {
  let loaded: Promise<ReadonlyMap<string, StaticFile>> | undefined
  return async (request, { asked }) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    loaded ??= load(fileURLToPath(folder))
    const files = await loaded
    const { pathname } = new URL(request.url)
    const [, name = ''] = /((?:assets\/)?[^/]*)$/.exec(pathname) ?? []
    if (name !== '') {
      const file = name === 'index.html' ? undefined : files.get(name)
      return file === undefined ? toPage(request, name) : fileAnswer(request, file)
    }
    // A surrounding server may remove its own path: the browser still has the address without a trailing slash.
    const askedPath = asked?.replace(/[?#].*$/s, '') ?? '/'
    if (!askedPath.endsWith('/')) return toPage(request, askedPath.slice(askedPath.lastIndexOf('/') + 1))
    const page = files.get('index.html')
    return page === undefined ? undefined : fileAnswer(request, page)
  }
}

/** The address of the page ends in a slash, so that the addresses of its files can be relative. */
function toPage(request: Request, name: string): Response | undefined {
  const isForReader = request.headers.get('accept')?.includes('text/html') === true
  if (!isForReader || name.includes('.')) return undefined
  // Relative and without a scheme, so it cannot lead to another server.
  return new Response(null, { status: 308, headers: { ...safeHeaders, location: `./${name}/` } })
}

function fileAnswer(request: Request, file: StaticFile): Response {
  const { body, packed, etag, type, isHashed } = file
  const isPacked = packed !== undefined && /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
  const headers = {
    ...safeHeaders,
    'content-security-policy': policy,
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-type': type,
    vary: 'accept-encoding',
    etag,
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  }
  if (request.headers.get('if-none-match')?.includes(etag) === true) {
    return new Response(null, { status: 304, headers })
  }
  return new Response(request.method === 'HEAD' ? null : isPacked ? packed : body, { headers })
}

/** The page may use only the files and the API of its own server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

async function load(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const known = names.map((name) => name.replaceAll('\\', '/')).filter((name) => extname(name) in types)
  const files = known.map(async (name): Promise<[string, StaticFile]> => {
    const body = new Uint8Array(await readFile(`${folder}${name}`))
    const packed = new Uint8Array(await promisify(gzip)(body))
    return [
      name,
      {
        body,
        packed: packed.length < body.length ? packed : undefined,
        etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
        type: types[extname(name)] ?? '',
        isHashed: name.startsWith('assets/'),
      },
    ]
  })
  return new Map(await Promise.all(files))
}
