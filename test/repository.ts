import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The directory that holds the package. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A file of the repository: its path from the root, with slashes, and its text. */
export interface RepositoryFile {
  readonly path: string
  readonly text: string
}

/** Generated and installed files. */
const made = new Set(['node_modules', 'dist', 'dist.next', 'data', 'output', 'coverage', '.git', 'results'])

/** The files below a folder whose names end in one of these, by path. */
export function filesUnder(folder: string, endings: readonly string[]): readonly RepositoryFile[] {
  const paths = pathsUnder(join(root, folder)).filter((path) =>
    endings.some((ending) => path.endsWith(ending)),
  )
  return paths.toSorted().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

function pathsUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    // The data of a store is generated; the dashboard folder with this name is not.
    if (made.has(entry.name) && path !== join(root, 'dashboard', 'src', 'data')) return []
    if (entry.isDirectory()) return pathsUnder(path)
    return entry.isFile() ? [relative(root, path).split(sep).join('/')] : []
  })
}

/** A source without its comments, so that their words do not count as code. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(?<=^|[\s;{}(),])\/\/.*$/gm, '')
}

/** Every file that a source imports: static, for side effects, and dynamic. */
export function importsOf(text: string): readonly string[] {
  const code = withoutComments(text)
  const patterns = [
    /\bfrom\s+['"]([^'"]+)['"]/g,
    /\bimport\s+['"]([^'"]+)['"]/g,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
    /\bcreateRequire\(import\.meta\.url\)(?:\.resolve)?\(\s*['"]([^'"]+)['"]\s*\)/g,
  ]
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ''))
}

/** Names that are exported where they are declared and have no doc comment right above. */
export function undocumented(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const [, name] =
      /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/.exec(
        line,
      ) ?? []
    const isText = lines.slice(0, index).join('\n').replace(/\\`/g, '').split('`').length % 2 === 0
    return name === undefined || isText || /\*\/\s*$/.test(lines[index - 1] ?? '') ? [] : [name]
  })
}
