// The cold start of commands: the whole process, compared with an empty Node.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist, fromDist, inScratch, median } from './measure.mjs'

/** Runs the commands in turns; returns the medians in ms and the ratios. */
export function measureCold({ rounds, quick, parent, say }) {
  return inScratch(parent, async (directory) => {
    process.env.XDG_STATE_HOME = directory
    const store = `sqlite:${join(directory, 'rota.db')}`
    await fillStore(store)
    process.env.SCHEDULER_ENABLED = '1'
    writeFileSync(join(directory, 'plan.yaml'), planOf(1000))
    const main = join(dist, 'cli/main.js')
    const commands = {
      'node -e 0': ['-e', '0'],
      'rota next': [main, 'next', '0 9 * * *'],
      'rota runs': [main, 'runs', '--store', store],
      'rota schedule, 1,000 entries': [main, 'schedule', '--plan', 'plan.yaml'],
    }
    const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
    for (let i = 0; i < rounds * (quick ? 3 : 10); i += 1) {
      for (const [name, args] of Object.entries(commands)) taken[name].push(msOf(args, directory))
    }
    say('cold')
    const ms = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, median(all)]))
    const empty = ms['node -e 0']
    return {
      ms,
      nextRatio: ms['rota next'] / empty,
      scheduleRatio: ms['rota schedule, 1,000 entries'] / empty,
    }
  })
}

/** A plan with an entry for each hour from tomorrow on. */
function planOf(count) {
  const startMs = Date.now() + 86_400_000
  const entries = Array.from({ length: count }, (_, i) => {
    const at = new Date(startMs + i * 3_600_000).toISOString().slice(0, 16)
    return `  - publish_at: "${at}"\n    pipeline_path: "pipeline.web.yml"\n    params:\n      topic: "number ${i}"\n`
  })
  return `schema_version: "v1"\ntimezone: "Asia/Bangkok"\nentries:\n${entries.join('')}`
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
