import { readFile } from 'node:fs/promises'
import type { App } from '../../src/app/rota.js'
import type { Run } from '../../src/kernel/run/run.js'

/** The attempts that handlers began, by run, from the file that they wrote. */
export type Performed = ReadonlyMap<string, readonly number[]>

/** Reads the file in which each attempt has a line. */
export async function readPerformed(path: string): Promise<Performed> {
  const byRun = new Map<string, number[]>()
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const [id = '', attempt = ''] = line.split(' ')
    if (id !== '') byRun.set(id, [...(byRun.get(id) ?? []), Number(attempt)])
  }
  return byRun
}

/** Every finished attempt began; no attempt began twice; every repetition is explained by the end of the previous attempt. */
export async function checkPerformed(
  app: App,
  { runs, performed }: { readonly runs: readonly Run[]; readonly performed: Performed },
  explained: readonly string[],
): Promise<string[]> {
  const broken: string[] = []
  for (const run of runs) {
    const begun = performed.get(run.id) ?? []
    if (['done', 'failed'].includes(run.state) && begun.length === 0)
      broken.push(`${run.id} of ${run.job} is ${run.state} but was never begun`)
    if (new Set(begun).size !== begun.length)
      broken.push(`an attempt of ${run.id} began twice: ${begun.join(', ')}`)
    if (begun.length < 2) continue
    const attempts = await app.runs.attempts(run.id)
    const repeated = attempts.filter(
      (attempt) => attempt.attempt < Math.max(...begun) && begun.includes(attempt.attempt),
    )
    for (const { attempt, end } of repeated) {
      if (!explained.includes(end ?? 'nothing'))
        broken.push(`attempt ${attempt} of ${run.id} ended ${end} and was repeated`)
    }
  }
  return broken
}
