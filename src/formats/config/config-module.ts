import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { refusedFile } from '../user-file.js'

/** The default export of a module in JavaScript or TypeScript; `isAgain` reads a module that was already imported. */
export async function importDefault(
  path: string,
  options: { readonly isAgain?: boolean } = {},
): Promise<unknown> {
  return (await importModule(path, options))['default']
}

/** The exports of a module in JavaScript or TypeScript. */
export async function importModule(
  path: string,
  { isAgain = false }: { readonly isAgain?: boolean } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const refusal = await refusedFile(path)
  // Importing a pipe would wait forever; the import itself reports a missing file.
  if (refusal !== undefined && existsSync(path)) throw new Error(refusal)
  if (/\.m?ts$/.test(path)) readTypeScript()
  const url = pathToFileURL(path)
  // Node caches every module by its URL.
  if (isAgain) url.searchParams.set('read', randomUUID())
  return (await import(url.href)) as Readonly<Record<string, unknown>>
}

/** The place of a syntax error, such as `rota.config.mjs:3:6`; undefined if it is unknown or in the message. */
export async function placeOfSyntaxError(error: SyntaxError, path: string): Promise<string | undefined> {
  if (/:\d+:\d+: /.test(error.message)) return undefined
  const [first = ''] = (error.stack ?? '').split('\n', 1)
  const [, url, line] = /^(file:.*):(\d+)$/.exec(first) ?? []
  if (url !== undefined) return `${basename(fileURLToPath(url))}:${line}`
  return await placeBySecondReader(path)
}

/** Node does not report the place of a syntax error; the parser of TypeScript, which also accepts JavaScript, does. */
async function placeBySecondReader(path: string): Promise<string | undefined> {
  const { default: reader } = await import('@swc/wasm-typescript')
  try {
    reader.transformSync(await readFile(path, 'utf8'), { mode: 'strip-only', filename: path })
    return undefined
  } catch (problem) {
    const { startLine, startColumn } = problem as { startLine?: number; startColumn?: number }
    if (startLine === undefined || startColumn === undefined) return undefined
    return `${basename(path)}:${startLine}:${startColumn + 1}`
  }
}

/**
 * Makes this process load TypeScript like newer versions of Node: types are replaced by spaces, nothing is transformed,
 * and lines and columns stay the same. An import of `./x.js` finds `x.ts`, as the compiler expects. If Node or a loader
 * such as tsx can already do that, it has priority. It applies to every module that a config imports, so it is a hook
 * of the process; adding it twice does no harm.
 */
function readTypeScript(): void {
  const stripper = pathToFileURL(createRequire(import.meta.url).resolve('@swc/wasm-typescript')).href
  register(`data:text/javascript,${encodeURIComponent(hooks(stripper))}`)
}

/** Hooks run in their own thread and must be a separate module; as text they need no extra file. */
function hooks(stripper: string): string {
  return `
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const isTypeScript = (url) => url?.startsWith('file:') && /\\.m?ts$/.test(new URL(url).pathname)

export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context)
  } catch (error) {
    const isWritten = isTypeScript(context.parentURL) && /^\\.\\.?\\/.*\\.m?js$/.test(specifier)
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !isWritten) throw error
    return await next(specifier.replace(/js$/, 'ts'), context).catch(() => Promise.reject(error))
  }
}

export async function load(url, context, next) {
  try {
    return await next(url, context)
  } catch (error) {
    if (error.code !== 'ERR_UNKNOWN_FILE_EXTENSION' || !isTypeScript(url)) throw error
  }
  const filename = fileURLToPath(url)
  const source = await readFile(filename, 'utf8')
  const { default: stripper } = await import(${JSON.stringify(stripper)})
  try {
    const { code } = stripper.transformSync(source, { mode: 'strip-only', filename })
    return { format: 'module', shortCircuit: true, source: code }
  } catch (error) {
    throw new SyntaxError(filename + ':' + error.startLine + ':' + (error.startColumn + 1) + ': ' + error.message)
  }
}
`
}
