import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { featureNames } from './features.js'
import { rooms } from './rooms.js'
import { filesUnder, importsOf, undocumented, withoutComments, type RepositoryFile } from './repository.js'

const all = filesUnder('src', ['.ts'])
const sources = all.filter(({ path }) => !isTest(path))
const written = filesUnder('.', [
  '.ts',
  '.tsx',
  '.css',
  '.mjs',
  '.js',
  '.md',
  '.json',
  '.yaml',
  '.yml',
  'run',
])

describe('folders', () => {
  test('a folder imports only the folders and packages that it may', () => {
    const broken = sources.flatMap((file) =>
      importsOf(file.text).flatMap((specifier) => problemOf(file.path, specifier) ?? []),
    )
    expect(broken).toEqual([])
  })

  test('no file imports the public list', () => {
    const broken = all.filter(({ path, text }) => targetsOf({ path, text }).includes('src/index.ts'))
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('there are no import cycles', () => {
    expect(cycles(sources)).toEqual([])
  })

  test('relative imports name an existing file, with its compiled name', () => {
    const known = new Set(sources.map(({ path }) => path))
    const broken = sources.flatMap(({ path, text }) =>
      importsOf(text)
        .filter((specifier) => specifier.startsWith('.') && !specifier.endsWith('.json'))
        .filter((specifier) => !specifier.endsWith('.js') || !known.has(resolved(path, specifier)))
        .map((specifier) => `${path} imports ${specifier}`),
    )
    expect(broken).toEqual([])
  })

  test('no folder has more than 20 source files', () => {
    const counts = new Map<string, number>()
    for (const { path } of sources)
      counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > 20)).toEqual([])
  })

  test('no file only re-exports others, except an index', () => {
    const broken = sources.filter(
      ({ path, text }) => posix.basename(path) !== 'index.ts' && onlyReExports(withoutComments(text)),
    )
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('only the list of features imports the folder of a feature', () => {
    const featureOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1]
    const broken = sources.flatMap(({ path, text }) =>
      targetsOf({ path, text })
        .filter((target) => featureOf(target) !== undefined && featureOf(target) !== featureOf(path))
        .filter(() => path !== 'src/features/index.ts')
        .map((target) => `${path} imports ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('a test uses only the features that it belongs to', () => {
    const tests = [...all.filter(({ path }) => isTest(path)), ...filesUnder('test', ['.ts', '.mjs'])]
    const broken = tests.flatMap((file) => {
      const own = /^(?:src|test)\/features\/([^/]+)\//.exec(file.path)?.[1]?.split('+') ?? []
      return targetsOf(file)
        .filter((target) => {
          const feature = /^src\/features\/([^/]+)\//.exec(target)?.[1]
          return feature !== undefined && !own.includes(feature)
        })
        .map((target) => `${file.path} imports ${target}`)
    })
    expect(broken).toEqual([])
  })

  test('every feature is in test/features.ts and in the list of features', () => {
    const folders = new Set(sources.flatMap(({ path }) => /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? []))
    const list = all.find(({ path }) => path === 'src/features/index.ts')
    expect(importsOf(list?.text ?? '')).toEqual([...folders].map((name) => `./${name}/index.js`))
    expect([...folders].filter((name) => !(featureNames as readonly string[]).includes(name))).toEqual([])
    const shared = filesUnder('test/features', ['.ts']).flatMap(
      ({ path }) => path.split('/')[2]?.split('+') ?? [],
    )
    expect(shared.filter((name) => !folders.has(name))).toEqual([])
  })

  test('no class extends another class of ours', () => {
    const broken = sources.flatMap(({ path, text }) => {
      const found = withoutComments(text).matchAll(
        /\bclass (\w+)(?:<[^>]*>)? extends (?!(?:Error|EventEmitter)\b)(\w+)/g,
      )
      return [...found].map(([, name, base]) => `${path}: ${name} extends ${base}`)
    })
    expect(broken).toEqual([])
  })

  test('no folder is a bucket such as utils', () => {
    const buckets = new Set('utils util helpers lib libs types interfaces common misc'.split(' '))
    const broken = written.filter(({ path }) =>
      posix
        .dirname(path)
        .split('/')
        .some((part) => buckets.has(part)),
    )
    expect(broken.map(({ path }) => path)).toEqual([])
  })
})

describe('what a source may use', () => {
  test('the wall clock, timers and randomness without a seed are only in the clock', () => {
    const pattern =
      /\bDate\.now\b|\bnew Date\(\s*\)|\bset(?:Timeout|Interval)\b|\bperformance\.now\b|\bhrtime\b|\bMath\.random\b|node:timers/
    expect(matching(pattern, (path) => path === 'src/time/clock.ts')).toEqual([])
  })

  test('the environment is read only in app, cli and the api of a feature', () => {
    expect(
      matching(/\bprocess\.env\b/, (path) => /^src\/(?:app|cli|features\/(?:alerts|sensors))\//.test(path)),
    ).toEqual([])
  })

  test('SQL is only in its adapter', () => {
    const pattern =
      /\bselect\s[^;]{1,200}\sfrom\s|\binsert\s+into\s|\bupdate\s+\w+\s+set\s|\bdelete\s+from\s|\bcreate\s+(?:table|index)\b|\bpragma\s+\w/i
    expect(
      matching(pattern, (path) =>
        /^src\/(?:store\/(?:sql\/|sqlite\/|postgres\/|files\/lock\.ts)|features\/sensors\/kinds\/sql\/)/.test(
          path,
        ),
      ),
    ).toEqual([])
  })

  test('a schema step consists of literals, and of nothing outside its version', () => {
    const steps = sources.filter(({ path }) => /^src\/store\/\w+\/migrations\//.test(path))
    expect(steps.length).toBeGreaterThan(0)
    const broken = steps.filter(({ path, text }) => {
      const own = `./${posix.basename(path, '.ts').replace(/^(version-\d+).*$/, '$1')}`
      const isOutside = (specifier: string): boolean =>
        specifier !== '../../sql/migration.js' &&
        ![`${own}-`, `${own}/`].some((start) => specifier.startsWith(start))
      return importsOf(text).some(isOutside) || /\$\{|\.(?:replace|replaceAll|concat|join)\(/.test(text)
    })
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('the pure folders use neither files nor the network nor processes', () => {
    const pattern = /['"]node:(?!async_hooks|crypto|events|os|util|buffer)\w+['"]/
    expect(matching(pattern, (path) => !/^src\/(?:time|kernel|engine)\//.test(path))).toEqual([])
  })
})

describe('texts and sizes', () => {
  test('every exported name has a sentence', () => {
    const broken = sources.flatMap(({ path, text }) => undocumented(text).map((name) => `${path}: ${name}`))
    expect(broken).toEqual([])
  })

  test('no file of code has more than 400 lines', () => {
    // Generated files have no limit.
    const code = written.filter(
      ({ path, text }) => /\.(?:tsx?|css|mjs|js)$/.test(path) && !text.startsWith('// Made by '),
    )
    const broken = code.filter(({ text }) => text.split('\n').length - 1 > 400)
    expect(broken.map(({ path, text }) => `${path}: ${text.split('\n').length - 1}`)).toEqual([])
  })

  test('there are no to-do notes', () => {
    // Written so that this file does not match itself. Fields of the dashboard have a hint with that name.
    const pattern = /\b(?:TO[D]O|FIX[M]E|XX[X]|(?<!::)place[h]older(?!=))\b/
    expect(written.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('there are no paths of a developer’s machine', () => {
    const pattern = new RegExp(`(?<![\\w.~-])/(?:home|Users|root|work|mnt)/[\\w.-]+`)
    const broken = written
      .filter(({ path }) => !path.endsWith('package-lock.json'))
      .filter(({ text }) => pattern.test(text))
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  test('the lock files name no server', () => {
    const locks = written.filter(({ path }) => path.endsWith('package-lock.json'))
    expect(locks.length).toBeGreaterThan(0)
    expect(locks.filter(({ text }) => /"resolved": "http/.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('the lock files contain every package that they need, for all platforms', () => {
    const locks = written.filter(({ path }) => path.endsWith('package-lock.json'))
    expect(locks.map(({ path }) => path)).toEqual(['bench/package-lock.json', 'package-lock.json'])
    expect(locks.flatMap(({ path, text }) => missingOf(text).map((name) => `${path}: ${name}`))).toEqual([])
  })
})

interface LockFile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, Record<string, string>>>>>
}

/** The packages that a lock file needs but does not contain, which `npm ci` refuses. */
function missingOf(text: string): readonly string[] {
  const { packages } = JSON.parse(text) as LockFile
  return Object.entries(packages).flatMap(([place, each]) => {
    const wanted = { ...each.dependencies, ...each.optionalDependencies, ...each.devDependencies }
    return Object.keys(wanted).filter((name) => !placesFrom(place, name).some((path) => path in packages))
  })
}

/** Where Node looks for a package, the nearest place first. */
function placesFrom(place: string, name: string): readonly string[] {
  const parts = place.split('/')
  return [...parts, '']
    .map((_, i) => [...parts.slice(0, parts.length - i), 'node_modules', name].join('/'))
    .map((path) => path.replace(/^\//, ''))
}

function roomOf(path: string): string {
  const [, first = '', second = ''] = path.split('/')
  if (first === 'index.ts') return 'index'
  if (first === 'cli' && second === 'framework') return second
  if (first !== 'store') return first
  if (path === 'src/store/files/lock.ts') return 'lock'
  // Code that all stores share is in the other files of `store/`.
  return second.endsWith('.ts') ? 'port' : second
}

function problemOf(path: string, specifier: string): string | undefined {
  const room = roomOf(path)
  const rule = rooms[room]
  if (rule === undefined) return `${path} is in the room ${room}, which nobody designed`
  if (specifier.startsWith('node:') || specifier.startsWith('#')) return undefined
  if (!specifier.startsWith('.')) {
    return rule.packages?.includes(specifier) === true
      ? undefined
      : `${path} imports the package ${specifier}`
  }
  // The one outside file that contains the current version.
  if (specifier.endsWith('/package.json')) return undefined
  const target = roomOf(resolved(path, specifier))
  return target === room || rule.rooms.includes(target)
    ? undefined
    : `${path} imports ${specifier} of ${target}`
}

function resolved(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts')
}

function targetsOf({ path, text }: RepositoryFile): readonly string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolved(path, specifier))
}

/** Import cycles, including types; dynamic imports do not count. */
function cycles(files: readonly RepositoryFile[]): readonly string[] {
  const targets = new Map(
    files.map(({ path, text }) => [path, targetsOf({ path, text: text.replace(/\bimport\(/g, 'later(') })]),
  )
  const found: string[] = []
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): void => {
    const before = way.indexOf(path)
    if (before >= 0) found.push([...way.slice(before), path].join(' → '))
    if (before >= 0 || done.has(path)) return
    for (const target of targets.get(path) ?? []) visit(target, [...way, path])
    done.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return found
}

/** Whether a file contains only re-exports. */
function onlyReExports(text: string): boolean {
  return text.replace(/export (?:type )?(?:\{[^}]*\}|\*(?: as \w+)?) from '[^']+'/g, '').trim() === ''
}

/** The sources with a match outside the allowed places. */
function matching(pattern: RegExp, isAtHome: (path: string) => boolean): readonly string[] {
  return sources
    .filter(({ path, text }) => !isAtHome(path) && pattern.test(withoutComments(text)))
    .map(({ path }) => path)
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || /^src\/features\/[^/]+\/test\//.test(path)
}
