// Bundles the sources into few files: loading one takes about half a millisecond, and a command would load 250 of them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { entries, layers } from './bundle-layers.mjs'

/** Writes the JavaScript of the package into a folder. */
export async function bundle(root, folder) {
  const pathOf = (name) => join(root, 'src', `${name}.ts`)
  const inputs = entries.map((name) => [name, pathOf(name)]).filter(([, path]) => existsSync(path))
  const bundler = await rolldown({
    cwd: root,
    input: Object.fromEntries(inputs),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith(root),
    preserveEntrySignatures: 'allow-extension',
    // Layers put some dynamically imported modules into one file on purpose.
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await bundler.write({
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minifyInternalExports: false,
    // ASCII text is read and compiled faster.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: layerFinder(pathOf), debugName: 'layers' }],
    },
  })
  await bundler.close()
  refuseCycles(output)
}

/** Returns the layer of a module, or null if it is in none. */
function layerFinder(pathOf) {
  let layerOf
  return (id, context) => {
    layerOf ??= findLayers(pathOf, (path) => context.getModuleInfo(path))
    return layerOf.get(id) ?? null
  }
}

/** The layers by the paths of the modules. */
function findLayers(pathOf, infoOf) {
  const layerOf = new Map()
  for (const { name, roots, without = [] } of layers) {
    const seen = new Set()
    const collect = (path) => {
      const info = infoOf(path)
      if (info === null || seen.has(path)) return
      seen.add(path)
      // A program with top-level await ends with its command, and modules that it loads must not wait for that.
      const isProgram = info.isEntry && info.importers.length === 0
      const isFree = !isProgram && !without.some((folder) => path.includes(`/src/${folder}/`))
      if (isFree && !layerOf.has(path)) layerOf.set(path, name)
      for (const next of info.importedIds) collect(next)
    }
    for (const root of roots) collect(pathOf(root))
  }
  return layerOf
}

/** Files that import each other may be evaluated before their imports exist. */
function refuseCycles(output) {
  const importsOf = new Map(output.map(({ fileName, imports = [] }) => [fileName, imports]))
  const done = new Set()
  const visit = (file, way) => {
    if (way.includes(file)) throw new Error(`files import each other: ${[...way, file].join(' -> ')}`)
    if (done.has(file)) return
    for (const next of importsOf.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const file of importsOf.keys()) visit(file, [])
}
