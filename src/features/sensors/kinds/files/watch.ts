import { join, resolve } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { readGlob } from './glob.js'
import type { FilesConfig } from './options.js'

/**
 * Calls `hint` when the watch has started, and when a matching file was added or changed and has settled. Only a hint:
 * if the system cannot watch, or loses an event, the next poll finds the file anyway.
 */
export function watchFiles(hint: () => void, config: FilesConfig): () => void {
  const ended = new AbortController()
  const watcher = open(hint, config, ended.signal).catch(() => undefined)
  return () => {
    ended.abort()
    void watcher.then((opened) => opened?.close())
  }
}

/** An addition to the settle time, because the clock of the disk may differ. */
const marginMs = 100

async function open(
  hint: () => void,
  config: FilesConfig,
  ended: AbortSignal,
): Promise<FSWatcher | undefined> {
  const [{ watch }, glob] = await Promise.all([import('chokidar'), readGlob(config.glob)])
  if (ended.aborted) return undefined
  const root = resolve(config.directory)
  const watcher = watch(join(root, glob.base), {
    ignoreInitial: true,
    followSymlinks: config.followSymlinks,
    awaitWriteFinish: { stabilityThreshold: config.settleMs + marginMs, pollInterval: marginMs },
    ...(glob.depth === Infinity ? {} : { depth: glob.depth - 1 }),
  })
  const tell = (): void => {
    if (!ended.aborted) hint()
  }
  const tellOf = (path: string): void => {
    if (glob.matches(toRelative(root, path))) tell()
  }
  // There was no event for files that came between the last poll and the start of the watch.
  watcher.on('ready', tell).on('add', tellOf).on('change', tellOf).on('error', ignore)
  return watcher
}

function toRelative(root: string, path: string): string {
  return path.slice(root.length + 1).replaceAll('\\', '/')
}

function ignore(): void {}
