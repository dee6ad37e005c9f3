/** A pattern, and where files can be that match it. */
export interface Glob {
  matches(path: string): boolean
  /** The directory that all of them are in. */
  readonly base: string
  /** How many levels below it they can be, that directory's own files being at the first. */
  readonly depth: number
}

/** Reads a pattern of paths with slashes. */
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
