// The size of `npm install rota`: the packed tarball in an empty project.
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inScratch } from './measure.mjs'

/** Packs, installs and counts. */
export function measureFootprint({ parent, say }) {
  return inScratch(parent, async (directory) => {
    const root = fileURLToPath(new URL('..', import.meta.url))
    npm(['pack', '--ignore-scripts', '--pack-destination', directory], root)
    const tarball = readdirSync(directory).find((name) => name.endsWith('.tgz'))
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true }))
    npm(['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', `./${tarball}`], directory)
    say('footprint')
    const modules = join(directory, 'node_modules')
    const tarballMiB = lstatSync(join(directory, tarball)).size / 2 ** 20
    return { tarballMiB, installedMiB: bytesIn(modules) / 2 ** 20, packages: packagesIn(modules) }
  })
}

function npm(args, cwd) {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}: ${stderr}`)
}

function bytesIn(directory) {
  let bytes = 0
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    bytes += entry.isDirectory() ? bytesIn(path) : lstatSync(path).size
  }
  return bytes
}

function packagesIn(modules) {
  let packages = 0
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue
    const path = join(modules, entry.name)
    if (entry.name.startsWith('@')) packages += packagesIn(path)
    else packages += 1 + nestedIn(path)
  }
  return packages
}

function nestedIn(path) {
  return readdirSync(path).includes('node_modules') ? packagesIn(join(path, 'node_modules')) : 0
}
