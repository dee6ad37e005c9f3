// Compiles the sources to dist/ from scratch, writes the schemas of config, plan and pipeline files, and makes the command executable.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
const next = join(root, 'dist.next')

rmSync(next, { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', next],
  { cwd: root, stdio: 'inherit' },
)
if (status === 0) {
  await writeSchemas()
  chmodSync(join(next, 'cli', 'main.js'), 0o755)
  // Only now, so that whatever runs from dist never meets half of a build.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  renameSync(next, join(root, 'dist'))
}
process.exitCode = status ?? 1

/** Editors complete files by their schemas; the shapes are needed only to write those, so the package does without zod. */
async function writeSchemas() {
  const shapeFiles = {
    config: 'formats/config/config-shape',
    // A tree without the feature has no schema of it.
    ...(existsSync(join(next, 'features/plans')) ? { plan: 'features/plans/shape' } : {}),
    pipeline: 'formats/pipeline-shape',
  }
  const sectionFiles = readdirSync(join(next, 'features'))
    .map((feature) => `features/${feature}/config-shape`)
    .filter((file) => existsSync(join(next, `${file}.js`)))
  for (const [name, file] of Object.entries(shapeFiles)) {
    let shape = (await compiled(file))[`${name}Shape`]
    if (name === 'config')
      for (const section of sectionFiles) shape = shape.extend((await compiled(section)).sectionShapes)
    const schema = z.toJSONSchema(shape, { io: 'input' })
    const text = JSON.stringify({ title: `Rota ${name}`, ...schema }, null, 2)
    writeFileSync(join(next, `rota.${name}.schema.json`), `${text}\n`)
  }
  for (const file of [...Object.values(shapeFiles), ...sectionFiles]) {
    for (const ending of ['.js', '.d.ts']) rmSync(join(next, `${file}${ending}`))
  }
}

/** What a compiled file exports. */
async function compiled(file) {
  return await import(pathToFileURL(join(next, `${file}.js`)).href)
}
