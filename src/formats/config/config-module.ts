import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { refusedFile } from '../user-file.js'

/** The default export of a module written in JavaScript or TypeScript; read again where this process imported it before. */
export async function importDefault(
  path: string,
  options: { readonly isAgain?: boolean } = {},
): Promise<unknown> {
  return (await importModule(path, options))['default']
}

/** What a module written in JavaScript or TypeScript exports. */
export async function importModule(
  path: string,
  { isAgain = false }: { readonly isAgain?: boolean } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const refusal = await refusedFile(path)
  // Importing a pipe would wait forever; the import itself reports a missing file.
  if (refusal !== undefined && existsSync(path)) throw new Error(refusal)
  if (/\.m?ts$/.test(path)) readTypeScript()
  const url = pathToFileURL(path)
  // Node keeps every module by its address.
  if (isAgain) url.searchParams.set('read', randomUUID())
  return (await import(url.href)) as Readonly<Record<string, unknown>>
}

/** Where a module cannot be understood, such as `rota.config.mjs:3:6`; nothing where its message says so, or nobody knows. */
export async function placeOfSyntaxError(error: SyntaxError, path: string): Promise<string | undefined> {
  if (/:\d+:\d+: /.test(error.message)) return undefined
  const [first = ''] = (error.stack ?? '').split('\n', 1)
  const [, url, line] = /^(file:.*):(\d+)$/.exec(first) ?? []
  if (url !== undefined) return `${basename(fileURLToPath(url))}:${line}`
  return await placeBySecondReader(path)
}

/** Node keeps the place of what it cannot parse to itself; the reader of TypeScript, which takes JavaScript too, tells it. */
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
 * Has this process read TypeScript as newer versions of Node do by themselves: types are blanked out, nothing is
 * transformed, and lines and columns stay. An import of `./x.js` finds `x.ts`, as the compiler has it written. Whatever
 * can do that already, Node or a loader such as tsx, is asked first. Applies to every module a config imports, so it is a
 * hook of the process; having it twice changes nothing.
 */
function readTypeScript(): void {
  const stripper = pathToFileURL(createRequire(import.meta.url).resolve('@swc/wasm-typescript')).href
  register(`data:text/javascript,${encodeURIComponent(hooks(stripper))}`)
}

/** Hooks run in a thread of their own and must be a module of their own; as text they need no file beside this one. */
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
