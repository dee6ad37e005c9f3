import { dirname, relative, resolve } from 'node:path'
import type { Store } from '../../store/port.js'
import { findConfig } from '../../formats/config/find-config.js'
import type { Context } from '../../cli/framework/command.js'
import { shellWord } from '../../cli/framework/print/words.js'

/** The command that enqueues a missed entry of a plan in this store; undefined if its trigger is not one of a plan. */
export async function enqueueCommand(
  context: Context,
  app: { store(): Promise<Store> },
  name: string,
): Promise<string | undefined> {
  const [stored] = await (await app.store()).triggers({ names: [name] })
  const jobId = stored?.trigger.labels?.['job_id']
  if (stored === undefined || jobId === undefined || !stored.source.startsWith('plan:')) return undefined
  const { directory } = context
  const config = configOf(context)
  // The path of a plan is relative to the directory of the config that names it.
  const from = config === undefined ? directory : dirname(config)
  const plan = relative(directory, resolve(from, stored.source.slice('plan:'.length)))
  return `rota plan enqueue ${shellWord(plan)} ${jobId} ${await whereOf(context, config)}`
}

function configOf({ args, directory }: Context): string | undefined {
  const config = args.text('config')
  return config === undefined ? findConfig(directory) : resolve(directory, config)
}

/** The options that name the same store. */
async function whereOf(context: Context, config: string | undefined): Promise<string> {
  const { args, directory } = context
  const store = args.text('store')
  if (store !== undefined) return `--store ${shellWord(store)}`
  if ((await context.storeUrl()) !== undefined) return '--store "$ROTA_STORE"'
  return config === undefined
    ? '--store sqlite:data/rota.db'
    : `--config ${shellWord(relative(directory, config))}`
}
