import { lstat, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Stats } from 'node:fs'
import type { ConfiguredSensor, Observation, PollContext, PollResult, Sensor } from '../../sensor.js'
import { dated } from '../../../../time/dated.js'
import { formatInstant } from '../../../../time/instant.js'
import { readGlob, type Glob } from './glob.js'
import { readFilesOptions, type FilesConfig, type FilesSensorOptions } from './options.js'
import { KeptWalk } from './kept-walk.js'
import type { Step } from './walk.js'
import { watchFiles } from './watch.js'
import { complaintOf } from '../page-result.js'
import {
  enoughFound,
  initSweeps,
  observationOf,
  sift,
  stateFor,
  sweepResult,
  type Candidate,
} from '../sweep/sift.js'
import { Sweep, type SweepState } from '../sweep/sweep.js'

/** A sensor that finds every file that matches a pattern once. */
export function filesSensor(options: FilesSensorOptions): ConfiguredSensor<FilesConfig, SweepState> {
  const config = readFilesOptions(options)
  const walk = new KeptWalk()
  const sensor: Sensor<FilesConfig, SweepState> = {
    init: initSweeps,
    poll: (state, context) => poll(state, context, walk),
  }
  return { type: 'files', sensor, config, ...(config.watch ? { watch: watchFiles } : {}) }
}

/** How many files are examined together. */
const batchSize = 500

async function poll(
  given: SweepState,
  context: PollContext<FilesConfig>,
  kept: KeptWalk,
): Promise<PollResult<SweepState>> {
  const complaint = complaintOf(given)
  if (complaint !== undefined) return complaint
  const { config, now, signal } = context
  const { version, startFrom, followSymlinks, filesPerPoll } = config
  const root = resolve(config.directory)
  const state = stateFor([root, config.glob, version, startFrom, followSymlinks], given)
  const sweep = new Sweep(state, config, now.getTime())
  const glob = await readGlob(config.glob)
  const scan: Scan = { context, root, sweep, glob, found: [] }
  const { base, depth } = glob
  const walk = kept.resume({ root, base, depth, after: sweep.position, followSymlinks }, signal)
  for (let examined = 0; examined < filesPerPoll && scan.found.length < enoughFound; ) {
    const count = Math.min(batchSize, filesPerPoll - examined)
    const batch = await walk.next(count)
    const problem = await examine(batch, scan)
    examined += batch.length
    const isEnded = batch.length < count && !signal.aborted && problem === undefined
    if (isEnded || signal.aborted || problem !== undefined)
      return sweepResult({ sweep, isEnded, found: scan.found, problem })
  }
  walk.keep(sweep.position)
  return sweepResult({ sweep, isEnded: false, found: scan.found, problem: undefined })
}

interface Scan {
  readonly context: PollContext<FilesConfig>
  readonly root: string
  readonly sweep: Sweep
  readonly glob: Glob
  readonly found: Observation[]
}

/** Examines steps of the walk in order; returns the reason if it had to stop. */
async function examine(batch: readonly Step[], scan: Scan): Promise<string | undefined> {
  const examined = await Promise.all(batch.map((step) => examineOnce(step, scan)))
  const seen = await Promise.all(examined.map((first) => examineAgain(first, scan)))
  for (const [index, step] of batch.entries()) {
    const problem = pass(step, seen[index], scan)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The result of examining a path: a file, nothing of interest, or a problem. */
type Seen = FileCandidate | Problem | undefined

interface FileCandidate extends Candidate {
  readonly stats: Stats
}

interface Problem {
  readonly problem: string
}

async function examineOnce(step: Step, scan: Scan): Promise<Seen> {
  if (step.kind === 'unreadable') return unreadable(step, scan)
  if (step.kind !== 'file' || !scan.glob.matches(step.path)) return undefined
  const stats = await statsOf(step.path, scan)
  if (stats === undefined || 'problem' in stats) return stats
  return stats.isFile() ? toCandidate(step.path, stats, scan) : undefined
}

/** Examines a file again before it is reported; one that differs was just changed. */
async function examineAgain(first: Seen, scan: Scan): Promise<Seen> {
  const { config } = scan.context
  const now = scan.context.now.getTime()
  if (first === undefined || 'problem' in first || config.settleMs === 0) return first
  if (scan.sweep.weigh(first, now).kind !== 'new') return first
  const stats = await statsOf(first.position, scan)
  if (stats === undefined || 'problem' in stats) return stats
  const isSame = stats.size === first.stats.size && stats.mtimeMs === first.stats.mtimeMs
  return isSame ? first : { ...toCandidate(first.position, stats, scan), changedAt: now }
}

function pass(step: Step, seen: Seen, { sweep, found, glob, context }: Scan): string | undefined {
  if (seen === undefined) sweep.moveTo(step.path)
  else if (!('problem' in seen)) return sift([seen], { sweep, at: context.now.getTime(), found })
  // Only a problem with the base directory stops the sweep.
  else if (step.kind === 'unreadable' && step.path === glob.base) return seen.problem
  // Its time is unknown, so it counts as fresh as soon as it can be examined.
  else if (!sweep.fail({ identity: step.path, changedAt: Infinity, position: step.path }, seen.problem))
    sweep.moveTo(step.path)
  return undefined
}

async function statsOf(path: string, { root, context }: Scan): Promise<Stats | Problem | undefined> {
  const absolute = join(root, path)
  try {
    return await (context.config.followSymlinks ? stat(absolute) : lstat(absolute))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && path.includes('\uFFFD'))
      return { problem: `${absolute} cannot be examined: its name is not UTF-8` }
    return code === 'ENOENT' ? undefined : { problem: `${absolute} cannot be examined: ${message}` }
  }
}

function toCandidate(path: string, stats: Stats, { context, root }: Scan): FileCandidate {
  const { config, timezone } = context
  const modifiedAt = Math.trunc(stats.mtimeMs)
  const identity = config.version ? `${path}#${modifiedAt}-${stats.size}` : path
  const observe = (): Observation | undefined => {
    const file = { path: join(root, path), size: stats.size, modifiedAt }
    const choose = config.partition?.bind(undefined, path, dated(file))
    const payload = { ...file, modifiedAt: formatInstant(modifiedAt) }
    return observationOf({ name: path, identity, changedAt: modifiedAt, timezone, choose, payload })
  }
  // Unlike the modification time, this time cannot be set, and it changes when a file is moved here.
  const changedAt = Math.trunc(stats.ctimeMs)
  return { identity, stats, changedAt, position: path, observe }
}

function unreadable(step: Extract<Step, { kind: 'unreadable' }>, { root, glob }: Scan): Problem | undefined {
  const absolute = join(root, step.path)
  const { code, message } = step.error
  if (code !== 'ENOENT') return { problem: `the directory ${absolute} cannot be read: ${message}` }
  // Other directories were removed during the walk.
  return step.path === glob.base ? { problem: `there is no directory ${absolute}` } : undefined
}
