// Builds the dashboard. It rarely changes, so a build is cached under the digest of its sources.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Puts the built dashboard into a folder. */
export async function buildDashboard(root, folder) {
  const kept = join(root, 'node_modules', '.cache', 'rota-dashboard', digestOf(root))
  if (!existsSync(join(kept, 'index.html'))) {
    const { build } = await import('vite')
    rmSync(join(kept, '..'), { recursive: true, force: true })
    await build({
      configFile: join(root, 'dashboard', 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: `${kept}.next`, emptyOutDir: true },
    })
    // Copied at the end, so that an interrupted build is not used as a complete one.
    cpSync(`${kept}.next`, kept, { recursive: true })
    rmSync(`${kept}.next`, { recursive: true })
  }
  cpSync(kept, folder, { recursive: true })
}

/** A digest of the sources of the dashboard, of the client that it uses, and of the packages. */
function digestOf(root) {
  const hash = createHash('sha256')
  const inside = readdirSync(join(root, 'dashboard'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  for (const path of [...inside, join(root, 'src', 'client', 'client.ts'), join(root, 'package-lock.json')]) {
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex').slice(0, 20)
}
