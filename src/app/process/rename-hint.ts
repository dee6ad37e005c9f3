import { RotaError } from '../../kernel/definition/errors.js'
import type { Store } from '../../store/port.js'

/**
 * Adds a hint to the error of an app if the names it defines belong to one other app of its kind: it is
 * most likely the same app, whose directory or package was renamed.
 */
export async function withRenameHint(
  error: unknown,
  own: { readonly store: Store; readonly source: string; readonly names: readonly string[] },
): Promise<unknown> {
  if (!(error instanceof RotaError) || error.code !== 'DEFINITION_CONFLICT') return error
  const owners = await ownersOf(own)
  const [owner = ''] = owners
  const [kind, name] = split(owner)
  if (owners.size !== 1 || kind !== split(own.source)[0]) return error
  const where =
    kind === 'config' ? `app: ${name} in the config` : `app: '${name}' among the options of rota()`
  return new RotaError(error.code, `${error.message}; if that app was renamed, set ${where}`, {
    cause: error,
    faults: error.faults,
  })
}

/** The other sources that define any of the names. */
async function ownersOf({
  store,
  source,
  names,
}: {
  readonly store: Store
  readonly source: string
  readonly names: readonly string[]
}): Promise<ReadonlySet<string>> {
  const wanted = new Set(names)
  const jobs = (await store.jobs()).filter(({ job }) => wanted.has(job.name) && job.ended !== true)
  const triggers = (await store.triggers({ names })).filter((trigger) => trigger.active)
  return new Set([...jobs, ...triggers].map((one) => one.source).filter((other) => other !== source))
}

function split(source: string): [string, string] {
  const colon = source.indexOf(':')
  return [source.slice(0, colon), source.slice(colon + 1)]
}
