import { createHash } from 'node:crypto'
import { lstat, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Stats } from 'node:fs'
import type { ConfiguredSensor, Observation, PollContext, PollResult, Sensor } from '../../sensor.js'
import { formatInstant } from '../../../../time/instant.js'
import { choosePartition } from '../choose-partition.js'
import { observationKey } from '../observation-key.js'
import { readGlob, type Glob } from './glob.js'
import { readFilesOptions, type FilesConfig, type FilesSensorOptions } from './options.js'
import { KeptWalk } from './kept-walk.js'
import type { Step } from './walk.js'
import { watchFiles } from './watch.js'
import { complaintOf, initSweeps, sift, stateFor, sweepResult, type Candidate } from '../sift.js'
import { Sweep, type SweepState } from '../sweep.js'

/** A sensor that finds every file of a pattern once. */
export function filesSensor(options: FilesSensorOptions): ConfiguredSensor<FilesConfig, SweepState> {
  const config = readFilesOptions(options)
  const walk = new KeptWalk()
  const sensor: Sensor<FilesConfig, SweepState> = {
    init: initSweeps,
    poll: (state, context) => poll(state, context, walk),
  }
  return { type: 'files', sensor, config, ...(config.watch ? { watch: watchFiles } : {}) }
}

/** Observations after which a poll hands over what it has: they become one transaction. */
const enoughFound = 1000
/** Files that are looked at together. */
const batchSize = 500

async function poll(
  given: SweepState,
  context: PollContext<FilesConfig>,
  kept: KeptWalk,
): Promise<PollResult<SweepState>> {
  if (given.complaint !== null) return complaintOf(given)
  const { config, now, signal } = context
  const { followSymlinks, filesPerPoll } = config
  const root = resolve(config.directory)
  const sweep = new Sweep(stateFor(sourceOf(config, root), given), config, now)
  const glob = await readGlob(config.glob)
  const look: Look = { context, root, sweep, glob, found: [] }
  const { base, depth } = glob
  const walk = kept.resume({ root, base, depth, after: sweep.position, followSymlinks }, signal)
  for (let looked = 0; looked < filesPerPoll && look.found.length < enoughFound; ) {
    const count = Math.min(batchSize, filesPerPoll - looked)
    const batch = await walk.next(count)
    const problem = await lookAt(batch, look)
    looked += batch.length
    const isEnded = batch.length < count && !signal.aborted && problem === undefined
    if (isEnded || signal.aborted || problem !== undefined)
      return sweepResult({ sweep, isEnded, found: look.found, problem })
  }
  walk.keep(sweep.position)
  return sweepResult({ sweep, isEnded: false, found: look.found })
}

interface Look {
  readonly context: PollContext<FilesConfig>
  readonly root: string
  readonly sweep: Sweep
  readonly glob: Glob
  readonly found: Observation[]
}

/** Which files are looked at, and what makes one of them another; with other settings everything begins anew. */
function sourceOf({ glob, version, startFrom, followSymlinks }: FilesConfig, root: string): string {
  const parts = JSON.stringify([root, glob, version, startFrom, followSymlinks])
  return createHash('sha256').update(parts).digest('base64url').slice(0, 12)
}

/** Looks at what the walk came by, in its order. Gives why it had to stop, if it had to. */
async function lookAt(batch: readonly Step[], look: Look): Promise<string | undefined> {
  const firstLooks = await Promise.all(batch.map((step) => lookOnce(step, look)))
  const seen = await Promise.all(firstLooks.map((first) => lookAgain(first, look)))
  for (const [index, step] of batch.entries()) {
    const problem = pass(step, seen[index], look)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What a look at a path came to: a file, nothing that is wanted, or something that cannot be looked at. */
type Seen = FileCandidate | Problem | undefined

interface FileCandidate extends Candidate {
  readonly stats: Stats
}

interface Problem {
  readonly problem: string
}

async function lookOnce(step: Step, look: Look): Promise<Seen> {
  if (step.kind === 'unreadable') return unreadable(step, look)
  if (step.kind !== 'file' || !look.glob.matches(step.path)) return undefined
  const stats = await statsOf(step.path, look)
  if (stats === undefined || 'problem' in stats) return stats
  return stats.isFile() ? toCandidate(step.path, stats, look) : undefined
}

/** The same file once more where it is about to be reported; one that differs was changed just now. */
async function lookAgain(first: Seen, look: Look): Promise<Seen> {
  const { now, config } = look.context
  if (first === undefined || 'problem' in first || config.settleMs === 0) return first
  if (look.sweep.weigh(first, now).kind !== 'new') return first
  const stats = await statsOf(first.key, look)
  if (stats === undefined || 'problem' in stats) return stats
  const isSame = stats.size === first.stats.size && stats.mtimeMs === first.stats.mtimeMs
  return isSame ? first : { ...toCandidate(first.key, stats, look), changedAt: now }
}

function pass(step: Step, seen: Seen, { sweep, found, glob, context }: Look): string | undefined {
  if (seen === undefined) sweep.moveTo(step.path)
  else if (!('problem' in seen)) return sift([seen], { sweep, at: context.now, found })
  // Only the directory that everything is in stops the sweep.
  else if (step.kind === 'unreadable' && step.path === glob.base) return seen.problem
  // Its time is not known, so that it is fresh whenever it can be looked at.
  else if (!sweep.fail({ identity: step.path, changedAt: Infinity, position: step.path }, seen.problem))
    sweep.moveTo(step.path)
  return undefined
}

async function statsOf(path: string, { root, context }: Look): Promise<Stats | Problem | undefined> {
  const absolute = join(root, path)
  try {
    return await (context.config.followSymlinks ? stat(absolute) : lstat(absolute))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && path.includes('\uFFFD'))
      return { problem: `${absolute} cannot be looked at: its name is not UTF-8` }
    return code === 'ENOENT' ? undefined : { problem: `${absolute} cannot be looked at: ${message}` }
  }
}

function toCandidate(path: string, stats: Stats, look: Look): FileCandidate {
  const { version } = look.context.config
  const modifiedAt = Math.trunc(stats.mtimeMs)
  const identity = version ? `${path}#${modifiedAt}-${stats.size}` : path
  return {
    key: path,
    identity,
    stats,
    // Unlike the time of the contents it cannot be set, and it changes when a file is moved here.
    changedAt: Math.trunc(stats.ctimeMs),
    position: path,
    observe: () => observationOf({ path, identity, stats }, look),
  }
}

function observationOf(
  { path, identity, stats }: { path: string; identity: string; stats: Stats },
  { context, root }: Look,
): Observation | undefined {
  const { config, timezone } = context
  const changedAt = Math.trunc(stats.mtimeMs)
  const file = { path: join(root, path), size: stats.size, modifiedAt: changedAt }
  const choose = config.partition?.bind(undefined, path, file)
  const partition = choosePartition({ name: path, changedAt, timezone, choose })
  if (partition === undefined) return undefined
  const payload = { path: file.path, size: file.size, modifiedAt: formatInstant(changedAt) }
  return { key: observationKey(identity), partition, payload }
}

function unreadable(step: Extract<Step, { kind: 'unreadable' }>, { root, glob }: Look): Problem | undefined {
  const absolute = join(root, step.path)
  const { code, message } = step.error
  if (code !== 'ENOENT') return { problem: `the directory ${absolute} cannot be read: ${message}` }
  // Others were removed while the walk was on its way.
  return step.path === glob.base ? { problem: `there is no directory ${absolute}` } : undefined
}
