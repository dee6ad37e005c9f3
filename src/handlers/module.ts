import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse, RotaError } from '../kernel/definition/errors.js'
import type { Job } from '../kernel/job/job.js'
import { importModule } from '../formats/config/config-module.js'

/** The function that a module exports under a name; a relative path starts at the directory. */
export async function importFunction(
  spec: { readonly module: string; readonly export: string },
  directory: string,
): Promise<(given: never) => unknown> {
  const path = modulePath(spec.module, directory)
  const exported = (await load(path))[spec.export]
  if (typeof exported === 'function') return exported as (given: never) => unknown
  throw new RotaError('HANDLER_MISSING', `${path} exports no function named ${spec.export}`)
}

/** Throws one error that names every missing module. */
export function checkModules(jobs: readonly Job[], directory: string): void {
  const faults = jobs.flatMap(({ name, handler }) => {
    if (handler.kind !== 'module') return []
    const path = modulePath(handler.module, directory)
    return existsSync(path) ? [] : [{ path: `jobs.${name}.handler.module`, message: `there is no ${path}` }]
  })
  refuse('the app', faults)
}

/** The absolute path of a module. */
export function modulePath(module: string, directory: string): string {
  if (module.startsWith('file:')) return fileURLToPath(module)
  return isAbsolute(module) ? module : resolve(directory, module)
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await importModule(path)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    // It may also be something that the module itself imports; the message names it.
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new RotaError('HANDLER_MISSING', `${path} cannot be loaded: ${String(message)}`, { cause: error })
  }
}
