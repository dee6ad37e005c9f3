import { opendir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** One step of a walk, in the order of names, directory by directory. */
export type Step =
  | { readonly kind: 'file'; readonly path: string }
  /** Something else; a walk can resume after it. */
  | { readonly kind: 'passed'; readonly path: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly error: NodeJS.ErrnoException }

/** The parameters of a walk. Paths are below the root and have slashes. */
export interface Walk {
  readonly root: string
  /** The directory below the root where the walk starts; empty for the root itself. */
  readonly base: string
  /** How many levels of directories are walked, including the first. */
  readonly depth: number
  /** The path of the step after which the walk resumes; empty for all. */
  readonly after: string
  readonly followSymlinks: boolean
  /** How many names of one directory are kept in memory. A larger directory is read several times. */
  readonly namesAtOnce: number
  /** Checked regularly; the walk ends once it returns true. */
  readonly isStopped: () => boolean
}

/** Walks a tree in an order that another walk can resume, with bounded memory. */
export async function* walkFiles(walk: Walk): AsyncGenerator<Step, void, undefined> {
  const { base, after } = walk
  const below = base === '' ? after : after.slice(base.length + 1)
  yield* inside(walk, { path: base, after: below === '' ? [] : below.split('/'), above: [] })
}

interface Directory {
  readonly path: string
  /** The path components of the step after which the walk resumes. */
  readonly after: readonly string[]
  /** The real paths of its parent directories, if links are followed. */
  readonly above: readonly string[]
}

async function* inside(walk: Walk, directory: Directory): AsyncGenerator<Step, void, undefined> {
  const { path, after } = directory
  const absolute = join(walk.root, path)
  const above = walk.followSymlinks
    ? [...directory.above, await realpath(absolute).catch(() => absolute)]
    : []
  let from: From = { name: after[0] ?? '', isIncluded: after.length > 1 }
  for (;;) {
    const entries = await nextEntries(absolute, from, walk).catch((error: unknown) => error)
    if (!Array.isArray(entries)) {
      yield { kind: 'unreadable', path, error: entries as NodeJS.ErrnoException }
      return
    }
    // The first names of a directory are unknown until it was read completely.
    if (walk.isStopped()) return
    for (const entry of entries as readonly Entry[]) {
      const rest = from.isIncluded && entry.name === after[0] ? after.slice(1) : []
      yield* stepTo(walk, { entry, path: path === '' ? entry.name : `${path}/${entry.name}`, rest, above })
      if (walk.isStopped()) return
    }
    const last = entries.at(-1) as Entry | undefined
    if (entries.length < walk.namesAtOnce || last === undefined) return
    from = { name: last.name, isIncluded: false }
  }
}

interface Entry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

interface From {
  readonly name: string
  readonly isIncluded: boolean
}

async function* stepTo(
  walk: Walk,
  at: { entry: Entry; path: string; rest: readonly string[]; above: readonly string[] },
): AsyncGenerator<Step, void, undefined> {
  const { entry, path, rest, above } = at
  const kind = entry.kind === 'link' && walk.followSymlinks ? await kindBehind(walk, path, above) : entry.kind
  const level = path.split('/').length - (walk.base === '' ? 0 : walk.base.split('/').length)
  if (kind === 'directory' && level < walk.depth) yield* inside(walk, { path, after: rest, above })
  // An aborted walk has not completed the directory, and must not resume after it.
  if (walk.isStopped()) return
  yield { kind: kind === 'file' ? 'file' : 'passed', path }
}

/** The kind of a link's target; a parent directory of the link is ignored, as it would be an endless loop. */
async function kindBehind(walk: Walk, path: string, above: readonly string[]): Promise<Entry['kind']> {
  const absolute = join(walk.root, path)
  try {
    const stats = await stat(absolute)
    if (stats.isFile()) return 'file'
    return stats.isDirectory() && !above.includes(await realpath(absolute)) ? 'directory' : 'other'
  } catch {
    return 'other'
  }
}

/** The first names of a directory after a given one, sorted; the directory is streamed, so only these are in memory. */
async function nextEntries(absolute: string, from: From, walk: Walk): Promise<Entry[]> {
  const limit = walk.namesAtOnce
  let kept: Entry[] = []
  let end: string | undefined
  const directory = await opendir(absolute, { bufferSize: 1024 })
  for await (const found of directory) {
    if (walk.isStopped()) break
    const { name } = found
    if (name < from.name || (name === from.name && !from.isIncluded)) continue
    if (end !== undefined && name > end) continue
    kept.push({ name, kind: kindOf(found) })
    if (kept.length < 2 * limit) continue
    kept = kept.toSorted(byName).slice(0, limit)
    end = kept.at(-1)?.name
  }
  return kept.toSorted(byName).slice(0, limit)
}

function kindOf(found: {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}): Entry['kind'] {
  if (found.isFile()) return 'file'
  if (found.isDirectory()) return 'directory'
  return found.isSymbolicLink() ? 'link' : 'other'
}

function byName(a: Entry, b: Entry): number {
  return a.name < b.name ? -1 : 1
}
