// node scripts/chromium.mjs: makes sure that there is a Chromium for the tests, before several of them look for one.
// Root on Debian installs it; for other users it prints how.
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

if (process.argv[1] === fileURLToPath(import.meta.url) && chromiumPath() === undefined) {
  if (process.getuid?.() === 0) install()
  if (chromiumPath() === undefined) {
    console.error(
      'no Chromium found: install one (apt-get install chromium), or set ROTA_CHROMIUM to its path',
    )
    process.exit(1)
  }
}

/** The path of Chromium, if it is installed. */
export function chromiumPath() {
  if (process.env.ROTA_CHROMIUM !== undefined) return process.env.ROTA_CHROMIUM
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

function install() {
  console.log('installing Chromium for the tests')
  const run = (...args) => execFileSync('apt-get', args, { stdio: 'ignore' })
  try {
    run('update')
    run('-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', 'chromium')
  } catch {
    // Not Debian, or no network: the message above explains what to do.
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
