// Many triggers, idle cost and cold starts compared with their targets: lateness of a thousand triggers due in one
// second among a hundred thousand, the start when nothing changed, idle CPU, cold commands. Exits with 1 if one is
// missed.
//
//   node bench/targets.mjs [--only=triggers,cold] [--stores=sqlite,postgres] [--count=100000] [--due=1000] [--dir=<scratch>]
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureCold } from './cold.mjs'
import { inChild, inScratch } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'triggers,cold' },
    stores: { type: 'string', default: 'sqlite,postgres' },
    count: { type: 'string', default: '100000' },
    due: { type: 'string', default: '1000' },
    restMs: { type: 'string', default: '60000' },
    settleMs: { type: 'string', default: '25000' },
    dir: { type: 'string' },
  },
})
const wanted = flags.only.split(',')
const many = Number(flags.count).toLocaleString('en')
const rows = []
const say = (text) => process.stderr.write(`${text}\n`)
const loadBefore = loadavg()[0]

if (wanted.includes('triggers'))
  for (const store of flags.stores.split(','))
    await inScratch(flags.dir, (directory) => triggers(store, directory))
if (wanted.includes('cold')) await cold()
print()
process.exit(rows.every(({ measured, must }) => measured <= must) ? 0 : 1)

/** Three processes, one after the other: nothing defined, everything new, nothing changed. */
async function triggers(store, directory) {
  const server = store === 'postgres' ? await startPostgres(directory) : undefined
  const addressOf = (name) =>
    server === undefined ? `sqlite:${join(directory, `${name}.db`)}` : `${server.url}&schema=${name}`
  const child = async (name, given) => {
    const own = {
      directory,
      store: addressOf(name),
      restMs: flags.restMs,
      settleMs: flags.settleMs,
      due: 0,
      ...given,
    }
    const before = server?.cpuMs()
    const result = await inChild('./timers-child.mjs', own, { nodeFlags: ['--expose-gc'] })
    if (result.error !== undefined) throw new Error(result.error)
    say(
      `${store}, ${name}: ${JSON.stringify({ ...result, serverCpuMs: (server?.cpuMs() ?? 0) - (before ?? 0) })}`,
    )
    return result
  }
  try {
    const empty = await child('empty', { count: 0 })
    const first = await child('many', { count: flags.count, due: flags.due })
    const again = await child('many', { count: flags.count })
    const among = `${Number(flags.due).toLocaleString('en')} due in one second among ${many}`
    note(`${store}: ${among}, lateness p99, ms`, first.p99Ms, { must: 100, wish: 20 })
    note(`${store}: ${many} defined for the first time, s`, first.definedMs / 1000, { must: 5, wish: 2 })
    note(`${store}: start with ${many}, nothing changed, s`, (again.definedMs - again.listedMs) / 1000, {
      must: 1,
      wish: 0.3,
    })
    note(`${store}: the same with the calls that define them, s`, again.definedMs / 1000, {
      must: 1,
      wish: 0.3,
    })
    note(`${store}: CPU at rest, empty, %`, empty.cpuPercent, { must: 0.1, wish: 0.02 })
    note(`${store}: CPU at rest, ${many} triggers, %`, again.cpuPercent, { must: 0.1, wish: 0.02 })
  } finally {
    await server?.stop()
  }
}

async function cold() {
  const { ms, nextRatio } = await measureCold({ rounds: 2, quick: false, parent: flags.dir, say })
  note('rota next, cold, against an empty Node', nextRatio, { must: 1.5, wish: 1.3 })
  note('rota runs, cold, against an empty Node', ms['rota runs'] / ms['node -e 0'], { must: 2, wish: 1.6 })
}

function note(what, measured, { must, wish }) {
  rows.push({ what, measured, must, wish })
}

function print() {
  const columns = (...cells) =>
    `${cells[0].padEnd(72)}${cells
      .slice(1)
      .map((cell) => cell.padStart(10))
      .join('')}`
  console.log(columns('what', 'measured', 'must', 'wish', ''))
  for (const { what, measured, must, wish } of rows) {
    const verdict = measured <= wish ? 'wish' : measured <= must ? 'pass' : 'MISSED'
    console.log(columns(what, measured.toFixed(measured < 10 ? 3 : 0), String(must), String(wish), verdict))
  }
  console.log(`load before ${loadBefore.toFixed(1)}, after ${loadavg()[0].toFixed(1)}`)
}
