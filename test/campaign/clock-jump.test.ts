import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rota, start } from '../cli/rota.js'
import { ShiftedClock } from '../fixtures/shifted-clock.js'

const hour = 3_600_000

/** Long enough for a doubtful time to be accepted, which takes ten seconds. */
const pauseMs = 16_000

it.each(['sqlite:rota.db', 'files:data'])(
  'a clock that jumps by three hours costs a process with a lease of one second nothing (%s)',
  async (store) => {
    const cwd = mkdtempSync(join(tmpdir(), 'rota-jump-'))
    const wait = [
      'node',
      '-e',
      `console.log("good day"); setTimeout(() => console.log("good night"), ${pauseMs})`,
    ]
    const config = { app: 'jump', store, lease: '1s', jobs: { wait: { command: wait } } }
    writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify(config))
    const clock = new ShiftedClock(cwd)
    const { env } = clock
    const engines = [start(['up', '--json'], { cwd, env }), start(['up', '--json'], { cwd, env })]
    onTestFinished(async () => {
      for (const { child } of engines) child.kill('SIGKILL')
      await Promise.all(engines.map(({ ended }) => ended))
      rmSync(cwd, { recursive: true })
    })
    await Promise.all(engines.map((engine) => engine.said('"event":"hint"')))
    await rota(['enqueue', 'wait'], { cwd, env })
    await Promise.any(engines.map((engine) => engine.said('good day')))
    clock.shift(3 * hour)
    await Promise.any(engines.map((engine) => engine.said('good night')))
    for (const { child } of engines) child.kill('SIGTERM')
    const told = (await Promise.all(engines.map(({ ended }) => ended))).map(({ stdout }) => stdout).join('')
    expect(told).toContain('unsure')
    expect(told).not.toMatch(/expired|run:lost|run:refused/)
    expect(told.match(/good day/g)).toHaveLength(1)
  },
  120_000,
)
