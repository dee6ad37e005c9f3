// A command from nothing: the whole process, beside a Node that does nothing.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { dist, fromDist, inScratch, median } from './measure.mjs'

/** Runs each command in turns; gives the medians in ms and the ratios. */
export function measureCold({ rounds, quick, parent, say }) {
  return inScratch(parent, async (directory) => {
    process.env.XDG_STATE_HOME = directory
    const store = `sqlite:${join(directory, 'rota.db')}`
    await fillStore(store)
    const main = join(dist, 'cli/main.js')
    const commands = {
      'node -e 0': ['-e', '0'],
      'rota next': [main, 'next', '0 9 * * *'],
      'rota runs': [main, 'runs', '--store', store],
    }
    const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
    for (let i = 0; i < rounds * (quick ? 3 : 10); i += 1) {
      for (const [name, args] of Object.entries(commands)) taken[name].push(msOf(args, directory))
    }
    say('cold')
    const ms = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]))
    const empty = ms['node -e 0']
    return { ms, nextRatio: ms['rota next'] / empty }
  })
}

async function fillStore(store) {
  const { rota } = await fromDist('index.js')
  const app = rota({ store })
  const job = app.job('noop', () => undefined)
  await app.enqueueMany(job, Array.from({ length: 20 }))
  await app.close()
}

function msOf(args, cwd) {
  const startMs = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - startMs
}
