import type { CommandsApp } from '../jobs-option.js'
import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, onApp, storeOptions } from '../../../cli/framework/command.js'
import { count } from '../../../cli/framework/print/words.js'
import { systemText } from '../../../cli/framework/system-error.js'
import { usageError } from '../../../cli/framework/usage-error.js'

/** `rota export`: writes the jobs of the store as lines. */
export const exportCommand: Command<CommandsApp> = {
  name: 'export',
  about:
    'Writes all command jobs, one JSON map per line, to a new file or to standard output. `rota import` reads these lines; jobs that were executed are marked.',
  arguments: [{ name: 'file', help: 'a new file; default: standard output', isOptional: true }],
  options: [...storeOptions],
  examples: {
    'rota export': 'to standard output',
    'rota export backup.jsonl': 'to a file',
  },
  run: onApp(async (app, { args, out, directory }) => {
    const text = await app.commands.export()
    const lines = text.split('\n').slice(0, -1)
    const file = args.optionalWord(0)
    if (file !== undefined) {
      await writeNew(resolve(directory, file), text)
      out.show({ file, jobs: lines.length }, `wrote ${count(lines.length, 'job')} to ${file}`)
    } else if (out.isJson) out.stdout.write(`[${lines.join(',')}]\n`)
    else for (const line of lines) out.line(line)
  }),
}

/** Writes a new file, completely or not at all. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (!isMistyped.has(error.code ?? '')) throw error
    const message = error.code === 'ENOENT' ? `${path} is in a directory that does not exist` : undefined
    throw usageError(
      [{ path: '<file>', message: message ?? systemText(error) ?? error.message }],
      'see `rota export --help`',
    )
  })
  try {
    await file.writeFile(text)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Errors for which another path would help; all others are problems of the disk. */
const isMistyped: ReadonlySet<string> = new Set([
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'ELOOP',
])
