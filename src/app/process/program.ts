/**
 * Which program a process is. Two processes with one app name and different definitions are either two releases of one
 * program, of which the later one counts, or two programs that got the same name by accident. The file in which the
 * program begins tells them apart, seen from its package: releases lie in different directories.
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageOf, plainName } from '../../formats/app-name.js'

/** A program by the file in which it begins, such as `shop/src/main.js`. */
export function programOf(file: string): string {
  const found = packageOf(dirname(file))
  if (found === undefined) return basename(file)
  return `${found.name}/${relative(found.directory, file).replaceAll(sep, '/')}`
}

/** The program that this process runs; none where a tool, such as a test runner or `rota up`, loaded it. */
export function mainProgram(): string | undefined {
  const file = mainFile()
  return file === undefined ? undefined : programOf(file)
}

/** The name of an app in code that says none: that of the package of its directory, else of the program, else `app`. */
export function codeAppName(directory: unknown): string {
  const file = mainFile()
  // Where a tool loaded the program, only the working directory says whose it is.
  const main = file === undefined ? process.cwd() : dirname(file)
  const found = (typeof directory === 'string' ? packageOf(resolve(directory)) : undefined) ?? packageOf(main)
  return plainName(found?.name ?? 'app')
}

function mainFile(): string | undefined {
  const [, entry] = process.argv
  if (entry === undefined) return undefined
  try {
    const file = realpathSync(entry)
    const isTool = file.split(sep).includes('node_modules') || file === commandLine
    return isTool ? undefined : file
  } catch {
    // The first argument need not be a file: `node -e` takes any.
    return undefined
  }
}

/** Where this package lies elsewhere than under `node_modules`, as when it is linked. */
const commandLine = fileURLToPath(new URL('../../cli/main.js', import.meta.url))
