import { statSync } from 'node:fs'

/** Remembers which file a path leads to; gives the question whether it still does. */
export function fileIdentity(path: string): () => boolean {
  const opened = identityOf(path)
  return () => identityOf(path) === opened
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
