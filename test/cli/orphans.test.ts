import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Reports, reporting } from '../fixtures/reports.js'
import { emptyDirectory, rota, start, type Running } from './rota.js'

const running = new Set<Running>()
let reports: Reports

beforeEach(async () => {
  reports = await Reports.open()
})

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
  running.clear()
  reports.close()
})

it('a command whose worker was killed is killed with its group, also as a step, before its run is taken over', async () => {
  const cwd = app()
  const engine = await up(cwd)
  await rota(['enqueue', 'family'], { cwd })
  await rota(['enqueue', 'steps'], { cwd })
  for (const start of ['parent of family', 'child of family', 'parent of steps']) await reports.next(start)
  const daemon = await reports.next('daemon')
  engine.child.kill('SIGKILL')
  await reports.closed(1)
  // A process in its own group is meant to outlive its command.
  expect(process.kill(Number(daemon.split(' ')[1]), 'SIGKILL')).toBe(true)
  await reports.closed()
})

// The commands of a failed test end with the test.
const forever = 'setInterval(() => 0, 1e6); socket.once("close", () => process.exit())'
const asParent = `${reporting}; report("parent of " + process.env.ROTA_JOB); ${forever}`
const asChild = `${reporting}; report("child of " + process.env.ROTA_JOB); ${forever}`
const asDaemon = `${reporting}; report("daemon " + process.pid); ${forever}`

const asFamily = `${spawning(asChild, { stdio: 'ignore' })}; ${spawning(asDaemon, { stdio: 'ignore', detached: true })}; ${asParent}`

function spawning(script: string, options: object): string {
  const words = `["-e", ${JSON.stringify(script)}, process.argv[1]]`
  return `require("child_process").spawn(process.execPath, ${words}, ${JSON.stringify(options)})`
}

/** A directory with an app whose commands connect to the test and never end. */
function app(): string {
  const cwd = emptyDirectory()
  const command = (script: string): string[] => ['node', '-e', script, reports.port]
  const pipeline = { name: 'steps', steps: [{ id: 'only', run: command(asParent) }] }
  const config = {
    app: 'orphans',
    lease: '1s',
    jobs: {
      family: { command: command(asFamily) },
      steps: { pipeline: 'steps.json' },
    },
  }
  writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify(config))
  writeFileSync(join(cwd, 'steps.json'), JSON.stringify(pipeline))
  return cwd
}

async function up(cwd: string): Promise<Running> {
  const engine = start(['up'], { cwd })
  running.add(engine)
  await engine.said('scheduler and worker')
  return engine
}
