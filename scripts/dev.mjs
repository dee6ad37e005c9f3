// Rebuilds when a source changes, and starts `rota up` on the example config again.
import { spawn, spawnSync } from 'node:child_process'
import { watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const main = join(root, 'dist', 'cli', 'main.js')
const config = join(root, 'examples', 'quickstart', 'rota.config.yaml')
const settleMs = 200

/** The running engine, and whether another build is needed. */
let engine
let timer
let isRestarting = false
let isWanted = false

async function restart() {
  isWanted = true
  if (isRestarting) return
  isRestarting = true
  while (isWanted) {
    isWanted = false
    await stop()
    const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' })
    if (status === 0) start()
    else console.error('the build failed; waiting for the next change')
  }
  isRestarting = false
}

function start() {
  engine = spawn(process.execPath, [main, 'up', '--config', config, '--grace', '2s'], { stdio: 'inherit' })
}

function stop() {
  const running = engine
  engine = undefined
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return undefined
  return new Promise((resolve) => {
    running.once('exit', resolve)
    running.kill('SIGTERM')
  })
}

async function end() {
  await stop()
  process.exit(0)
}

for (const directory of ['src', join('examples', 'quickstart')]) {
  watch(join(root, directory), { recursive: true }, (_, file) => {
    if (file === null || /\.test\.ts$|~$/.test(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => void restart(), settleMs)
  })
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => void end())
}

await restart()
