import { statSync } from 'node:fs'

/** Remembers the file of a path; returns a function that checks whether it is still the same. */
export function fileIdentity(path: string): () => boolean {
  const opened = identityOf(path)
  return () => identityOf(path) === opened
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
