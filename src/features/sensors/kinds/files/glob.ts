/** A glob pattern, and where matching files can be. */
export interface Glob {
  matches(path: string): boolean
  /** The directory that contains all of them. */
  readonly base: string
  /** How many levels below it they can be; its own files are at level 1. */
  readonly depth: number
}

/** Parses a pattern of paths with slashes. */
export async function readGlob(pattern: string): Promise<Glob> {
  const { default: picomatch } = await import('picomatch')
  const { base, isGlob, negated } = picomatch.scan(pattern)
  const matches = picomatch(pattern)
  if (negated) return { matches, base: '', depth: Infinity }
  const directory = isGlob ? base : base.split('/').slice(0, -1).join('/')
  const rest = directory === '' ? pattern : pattern.slice(directory.length + 1)
  // A group or a globstar can span levels.
  const depth = /\*\*|[{(]/.test(rest) ? Infinity : rest.split('/').length
  return { matches, base: directory, depth }
}
