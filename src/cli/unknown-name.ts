import { RotaError } from '../app/errors.js'
import { didYouMean } from '../app/nearest.js'
import type { Rota } from '../app/rota.js'

/** The error for a name that no trigger, job or run has, with what was probably meant. */
export async function unknownName(
  app: Rota,
  name: string,
  kind?: 'trigger' | 'job' | 'run',
): Promise<RotaError> {
  const store = await app.store()
  const triggers = kind === 'job' ? [] : await store.triggers({ active: true })
  const jobs = kind === 'trigger' ? [] : await store.jobs()
  const known = [...triggers.map((one) => one.trigger.name), ...jobs.map(({ job }) => job.name)]
  const hint = didYouMean(name, known)
  const what = kind ?? 'trigger, job or run'
  const list = kind === 'job' ? 'rota list --jobs' : 'rota list'
  const message = `no ${what} is named ${name}${hint}; \`${list}\` shows what there is`
  if (kind === 'job') return new RotaError('JOB_UNKNOWN', message)
  // The ids of this century begin with a zero, as few names do.
  const isId = hint === '' && kind === undefined && /^0[0-9a-z]{3,35}$/i.test(name)
  return new RotaError(isId ? 'RUN_UNKNOWN' : 'TRIGGER_UNKNOWN', message)
}
