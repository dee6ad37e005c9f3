import { readUserFile } from '../../../formats/user-file.js'
import { canonicalJson } from '../../../kernel/identity/canonical-json.js'
import { commandJobOf, commandPayload, type CommandJob } from '../definition.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { isJobsSource } from '../../../kernel/job/command-source.js'
import { jobsIn, readJobLines, toFault, type JobLine, type LineFault } from '../lines.js'
import { pick } from '../../../wire/to-json.js'
import type { Instant } from '../../../time/instant.js'
import type { CommandJobs } from '../command-jobs.js'
import { largestFile } from '../jobs-file.js'
import { shellCommand } from '../performers.js'
import { executionsOf, linesOf } from '../store-jobs.js'

/** How a file of jobs is imported. */
export interface ImportOptions {
  /** Only returns what would happen to each line. */
  readonly dryRun?: boolean | undefined
  /** Takes commands as lines for `sh -c`: the author of the file can then run programs here. */
  readonly shell?: boolean | undefined
  /** Imports nothing if any line has a fault. */
  readonly strict?: boolean | undefined
}

/** The result for a line; `executed` is a one-shot that was already executed and is only kept. */
export interface ImportedLine {
  readonly line: number
  readonly id: string | undefined
  readonly became: 'added' | 'unchanged' | 'executed' | 'conflict' | 'faulty'
  readonly faults: readonly LineFault[]
  /** The owner of the id, if there is a conflict. */
  readonly source: string | undefined
}

/** Imports the valid lines of a jobs file in one transaction, and returns the result for each. */
export async function importJobs(
  jobs: CommandJobs,
  request: ImportOptions & {
    readonly path: string
    /** The content, if it does not come from the file at the path. */
    readonly bytes?: Buffer | undefined
    readonly now: Instant
  },
): Promise<readonly ImportedLine[]> {
  const { path, now, dryRun = false, shell = false, strict = false } = request
  if (path === jobs.place?.file.path)
    throw new RotaError('JOBS_INVALID', `${path} is used in place; there is nothing to import`)
  // In a file that is used in place, an unknown field is a fault.
  const unknown = jobs.place === undefined ? 'keep' : 'refuse'
  const lines = await readJobLines(request.bytes ?? (await bytesOf(path)), { unknown, path })
  const isShell = shell
  const judged = await judge(jobs, lines, isShell)
  if (strict) refuseFaulty(path, judged)
  const added = lines.flatMap((line, index) => {
    const became = judged[index]?.became
    if (line.kind !== 'job' || (became !== 'added' && became !== 'executed')) return []
    return [{ job: line.job, executed: line.executed, isShell }]
  })
  if (!dryRun && added.length > 0) await jobs.write(added, now)
  return judged.filter((_, index) => lines[index]?.kind !== 'blank')
}

/** The result for a line, as `--json` and the API show it. */
export function lineView({ faults, ...imported }: ImportedLine) {
  const { line } = imported
  const fields = ['column', 'path', 'message', 'allowed'] as const
  return {
    ...pick(imported, ['line', 'id', 'became', 'source']),
    faults: faults.map((fault) => ({ line, ...pick(fault, fields) })),
  }
}

/** All jobs as the lines of a file. */
export async function exportJobs(jobs: CommandJobs): Promise<string> {
  const lines = await linesOf(jobs.store, await jobs.active())
  return lines.map((line) => `${line}\n`).join('')
}

async function bytesOf(path: string): Promise<Buffer> {
  const found = await readUserFile(path, largestFile)
  if (found.kind === 'read') return found.bytes
  const cause = 'cause' in found ? found.cause : undefined
  throw new RotaError('JOBS_INVALID', `${path} cannot be read: ${found.why}`, { cause })
}

async function judge(
  { store }: CommandJobs,
  lines: readonly JobLine[],
  isShell: boolean,
): Promise<readonly ImportedLine[]> {
  const names = jobsIn(lines).map(({ job }) => job.id)
  const stored = await store.triggers({ names, active: true })
  const known = new Map(stored.map((one) => [one.trigger.name, one]))
  const executions = await executionsOf(store, stored)
  return lines.map((line): ImportedLine => {
    const told = { line: line.line, id: undefined, faults: [], source: undefined }
    if (line.kind === 'faulty') return { ...told, became: 'faulty', faults: line.faults }
    if (line.kind === 'blank') return { ...told, became: 'unchanged' }
    const { id } = line.job
    const one = known.get(id)
    if (one === undefined) return { ...told, id, became: line.executed === undefined ? 'added' : 'executed' }
    const isSame =
      isJobsSource(one.source) &&
      (one.trigger.job === shellCommand) === isShell &&
      textOf(commandJobOf(one.trigger)) === textOf(line.job) &&
      // Without the conflict it would be executed twice.
      (line.executed === undefined || executions.has(id))
    return isSame
      ? { ...told, id, became: 'unchanged' }
      : { ...told, id, became: 'conflict', source: one.source }
  })
}

function textOf(job: CommandJob): string {
  return canonicalJson([job.schedule ?? job.executeAt, commandPayload(job)])
}

function refuseFaulty(path: string, lines: readonly ImportedLine[]): void {
  const faults = lines.flatMap((line) => line.faults)
  if (faults.length === 0) return
  const told = faults.map(toFault)
  throw new RotaError('JOBS_INVALID', `${path} has faults; nothing was imported`, { faults: told })
}
