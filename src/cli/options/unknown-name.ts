import { RotaError } from '../../kernel/definition/errors.js'
import { nearest, noneNamed } from '../../kernel/definition/read-value.js'
import type { StoreReader } from '../../app/store/store-reader.js'

/** The error for an unknown name of a trigger, job or run, with a suggestion. */
export async function unknownName(
  reader: StoreReader,
  name: string,
  kind?: 'trigger' | 'job' | 'run' | 'trigger or job',
): Promise<RotaError> {
  const store = await reader.store()
  const triggers = kind === 'job' ? [] : await store.triggers({ active: true })
  const jobs = kind === 'trigger' ? [] : await store.jobs()
  const known = [...triggers.map((one) => one.trigger.name), ...jobs.map(({ job }) => job.name)]
  const what = kind ?? 'trigger, job or run'
  const list = kind === 'job' ? 'rota list --jobs' : 'rota list'
  const message = noneNamed(`${what} is named`, name, { known, list })
  if (kind === 'job') return new RotaError('JOB_UNKNOWN', message)
  // The ids of this century begin with a zero, and few names do.
  const isId = nearest(name, known) === undefined && kind === undefined && /^0[0-9a-z]{3,35}$/i.test(name)
  return new RotaError(isId ? 'RUN_UNKNOWN' : 'TRIGGER_UNKNOWN', message)
}
