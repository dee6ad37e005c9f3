/**
 * The program of a process. Two processes with one app name and different definitions are either two releases of one
 * program, of which the later one counts, or two programs with the same name by accident. They are distinguished by
 * their entry file relative to its package: releases are in different directories.
 */
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { packageOf, plainName } from '../../formats/app-name.js'

/** The name of a program by its entry file, such as `shop/src/main.js`. */
export function programOf(file: string): string {
  const found = packageOf(dirname(file))
  if (found === undefined) return basename(file)
  return `${found.name}/${relative(found.directory, file).replaceAll(sep, '/')}`
}

/** The program that this process runs; undefined if a tool, such as a test runner or `rota up`, loaded it. */
export function mainProgram(): string | undefined {
  const file = mainFile()
  return file === undefined ? undefined : programOf(file)
}

/** The default name of an app in code: the package of its directory, otherwise of the program, otherwise `app`. */
export function codeAppName(directory: unknown): string {
  const file = mainFile()
  // If a tool loaded the program, only the working directory identifies it.
  const main = file === undefined ? process.cwd() : dirname(file)
  const found = (typeof directory === 'string' ? packageOf(resolve(directory)) : undefined) ?? packageOf(main)
  return plainName(found?.name ?? 'app')
}

function mainFile(): string | undefined {
  const [, entry] = process.argv
  if (entry === undefined) return undefined
  try {
    const file = realpathSync(entry)
    const isTool = file.split(sep).includes('node_modules') || file === commandLine()
    return isTool ? undefined : file
  } catch {
    // The first argument may not be a file: `node -e` accepts any.
    return undefined
  }
}

/** The file of `rota`, which is outside `node_modules` where this package is linked. */
function commandLine(): string {
  return createRequire(import.meta.url).resolve('#command-line')
}
