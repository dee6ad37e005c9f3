import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, exitCodes, storeOptions } from '../../cli/framework/command.js'
import { count } from '../../cli/views/in-words.js'
import { systemText } from '../../cli/framework/system-error.js'
import { usageError } from '../../cli/framework/usage-error.js'
import { withApp } from '../../cli/host/with-app.js'

/** `rota export`: writes the jobs of the store as lines. */
export const exportCommand: Command = {
  name: 'export',
  about:
    'Writes all command jobs, one JSON map a line, to a new file or to standard output: the lines that `rota import` takes, with what was executed marked.',
  arguments: [{ name: 'file', help: 'a file that is not there yet', isOptional: true }],
  options: [...storeOptions],
  examples: [
    { line: 'rota export', meaning: 'to standard output' },
    { line: 'rota export backup.jsonl', meaning: 'to a file' },
  ],
  run: (context) =>
    withApp(context, async (app) => {
      const { args, out, directory } = context
      const text = await app.commands.export()
      const lines = text.split('\n').slice(0, -1)
      const file = args.optionalWord(0)
      if (file === undefined && args.flag('json')) out.json(lines.map((line) => JSON.parse(line) as unknown))
      else if (file === undefined) for (const line of lines) out.line(line)
      else {
        await writeNew(resolve(directory, file), text)
        if (args.flag('json')) out.json({ file, jobs: lines.length })
        else out.say(`${count(lines.length, 'job')} written to ${file}`)
      }
      return exitCodes.ok
    }),
}

/** Writes a file that is not there yet, all of it or nothing. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (!isMistyped.has(error.code ?? '')) throw error
    const message = error.code === 'ENOENT' ? `${path} is in a directory that is not there` : undefined
    throw usageError(
      [{ path: '<file>', message: message ?? systemText(error) ?? error.message }],
      '`rota export --help` shows examples',
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

/** Another path would do; everything else is trouble with the disk. */
const isMistyped: ReadonlySet<string> = new Set([
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'ELOOP',
])
