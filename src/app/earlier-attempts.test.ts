import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Reports, reporting } from '../../test/fixtures/reports.js'
import { systemClock } from '../time/clock.js'
import { openStore } from './store/open-store.js'
import { rota } from './rota.js'

const hour = 3_600_000
const forever = 'setInterval(() => 0, 1e6); socket.once("close", () => process.exit())'
const command = `${reporting}; report(process.env.ROTA_RUN_ID + " attempt " + process.env.ROTA_ATTEMPT); ${forever}`

it.runIf(process.platform === 'linux')(
  'commands of a worker of this host with an expired lease are killed before the next attempt, and no others',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-earlier-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const reports = await Reports.open()
    onTestFinished(() => reports.close())
    const url = `sqlite:${join(directory, 'rota.db')}`
    const app = rota({ store: url, directory, lease: '1s', durability: 'normal' })
    onTestFinished(() => app.stop({ grace: 0 }))
    app.job('waits', { command: [process.execPath, '-e', command, reports.port] })
    await app.start({ roles: { worker: false } })
    const { id } = await app.enqueue('waits')

    // A worker that hangs, with its command and those of other attempts.
    const marks = [`${id} attempt 1`, `${id} attempt 2`, 'another attempt 1']
    const worker = spawn(process.execPath, ['-e', hanging(marks), reports.port], { stdio: 'ignore' })
    onTestFinished(() => void worker.kill('SIGKILL'))
    for (const mark of marks) await reports.next(mark)
    const store = await openStore(url, {
      clock: systemClock,
      directory,
      durability: 'normal',
      create: false,
    })
    const holder = `${hostname()}:${worker.pid}:0123abcd`
    const now = systemClock.now()
    await store.register({
      id: holder,
      host: hostname(),
      pid: worker.pid ?? 0,
      version: '0',
      now: now - hour,
      leaseMs: 2 * hour,
    })
    await store.turn({
      worker: holder,
      now,
      finished: [],
      claimRequest: { jobs: ['waits'], slots: 1, prefetch: 0 },
    })
    await store.retire({ worker: holder, now })
    await store.close()

    const second = rota({ store: url, directory, lease: '1s', durability: 'normal', app: 'second' })
    onTestFinished(() => second.stop({ grace: 0 }))
    await second.start({ roles: { scheduler: false } })
    await reports.next(`${id} attempt 2`, 2)
    expect(reports.alive(`${id} attempt 1`)).toBe(0)
    expect(reports.alive(`${id} attempt 2`)).toBe(2)
    expect(reports.alive('another attempt 1')).toBe(1)
    await second.stop({ grace: 0 })
    const [line] = await app.runs.logs(id)
    expect(line).toMatchObject({
      attempt: 2,
      level: 'warn',
      text: expect.stringMatching(/^killed process \d+/),
    })
  },
)

/** A process that starts a command for each mark, as a worker does, and then does nothing. */
function hanging(marks: readonly string[]): string {
  return `for (const mark of ${JSON.stringify(marks)}) {
    const [id, , attempt] = mark.split(' ')
    require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(command)}, process.argv[1]], {
      detached: true, stdio: 'ignore', env: { ROTA_RUN_ID: id, ROTA_ATTEMPT: attempt },
    })
  }
  require('net').connect(Number(process.argv[1])).once('close', () => process.exit())`
}
