// node scripts/chromium.mjs: makes sure that there is a Chromium for the tests, before several of them look for one.
// Root on Debian installs it; for other users it prints how.
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Chromium without windows, as Debian packages it: the same engine. A start and a first page take 0.6 s of CPU time, and
 * 1.6 s with all of Chromium.
 */
const headlessShell = '/usr/lib/chromium/chromium-headless-shell'

if (process.argv[1] === fileURLToPath(import.meta.url) && process.env.ROTA_CHROMIUM === undefined) {
  if (process.getuid?.() === 0 && !isExecutable(headlessShell)) install()
  if (chromiumPath() === undefined) {
    console.error(
      'no Chromium found: install one (apt-get install chromium-headless-shell), or set ROTA_CHROMIUM to its path',
    )
    process.exit(1)
  }
}

/** The path of Chromium, if it is installed. */
export function chromiumPath() {
  if (process.env.ROTA_CHROMIUM !== undefined) return process.env.ROTA_CHROMIUM
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(delimiter)
  const installed = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [headlessShell, ...installed].find(isExecutable)
}

/** Where there is a Chromium already, the shell is only tried: without lists of packages, and without a long wait. */
function install() {
  if (chromiumPath() !== undefined) {
    apt('install', '-y', '--no-install-recommends', '--no-remove', '--no-upgrade', 'chromium-headless-shell')
    return
  }
  console.log('installing Chromium for the tests')
  apt('update')
  for (const name of ['chromium-headless-shell', 'chromium']) {
    if (chromiumPath() === undefined) apt('install', '-y', '--no-install-recommends', name)
  }
}

function apt(...args) {
  const limits = ['DPkg::Lock::Timeout=60', 'Acquire::Retries=0', 'Acquire::http::Timeout=10']
  try {
    execFileSync('apt-get', [...limits.flatMap((limit) => ['-o', limit]), ...args], { stdio: 'ignore' })
  } catch {
    // Not Debian, no such package, or no network: the message above explains what to do.
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
