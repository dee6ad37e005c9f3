import { resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import { refusedKind } from '../../formats/user-file.js'
import type { Surroundings } from '../../cli/framework/command.js'
import type { Commands } from './api.js'
import type { UpExtension } from '../up-extension.js'
import type { Option } from '../../cli/framework/syntax.js'

/** What the commands of command jobs use of an app. */
export interface CommandsApp {
  readonly commands: Commands
}

/** A jobs file that is used in place. */
export const jobsOption: Option = {
  name: 'jobs',
  value: 'file',
  help: 'a jobs file to use in place',
  completes: 'file',
}

/** The path of the given jobs file. */
export function jobsPathOf({ args, directory }: Surroundings): string | undefined {
  const file = args.text(jobsOption.name)
  return file === undefined ? undefined : resolve(directory, file)
}

/** `rota up --jobs`: uses a jobs file in place. */
export const jobsFileOption: UpExtension<CommandsApp> = {
  options: [jobsOption],
  read: (context) => {
    const path = jobsFileOf(context)
    return path === undefined ? undefined : { define: ({ commands }) => commands.useFile(path) }
  },
}

/** The given jobs file. Anything that is not a file is refused before its lock file is created. */
export function jobsFileOf(context: Surroundings): string | undefined {
  const path = jobsPathOf(context)
  const why = path === undefined ? undefined : refusedKind(path)
  if (why !== undefined) throw new RotaError('JOBS_INVALID', `--jobs: ${path} cannot be used: ${why}`)
  return path
}
