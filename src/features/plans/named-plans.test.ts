import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.js'
import { createApp } from '../../app/rota.js'

const monday = Date.UTC(2026, 0, 5)

let directory: string
let clock: FakeClock

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-named-'))
  clock = new FakeClock(monday)
  writeFileSync(join(directory, 'web.yml'), 'steps: [{ uses: publish }]')
  writePlan('plan.yaml', ['2026-01-05T00:01', '2026-01-05T00:02'])
})

function writePlan(name: string, times: readonly string[]): void {
  const entries = times.map((at) => `\n  - { publish_at: "${at}", pipeline_path: web.yml }`)
  const list = entries.length === 0 ? ' []' : entries.join('')
  writeFileSync(join(directory, name), `schema_version: v1\ntimezone: UTC\nentries:${list}\n`)
}

/** Starts an app that names these plans, and stops it; it plans and performs nothing, because no time passes. */
async function start(
  source: string,
  plans: readonly string[],
  passMs = 0,
): Promise<{ ended: number; states: string[]; active: string[]; reasons: (string | undefined)[] }> {
  const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, source)
  app.pipelineStep('publish', () => undefined)
  for (const plan of plans) app.plans.add(plan)
  const report = await app.start({ roles: { worker: false } })
  if (passMs > 0) await clock.advance(passMs)
  const triggers = (await app.triggers.list()).filter((one) => one.active)
  const runs = (await app.runs.list()).toReversed()
  await app.stop({ grace: 0 })
  return {
    ended: report?.ended.length ?? 0,
    states: runs.map((run) => run.state),
    active: triggers.map((one) => `${one.source} ${one.trigger.labels?.['run_id_base'] ?? ''}`).toSorted(),
    reasons: runs.map((run) => run.reason),
  }
}

const both = ['plan:plan.yaml 20260105_0001', 'plan:plan.yaml 20260105_0002']

describe('a plan that an app no longer names', () => {
  it('Q2: ends: its entries end, its waiting runs are cancelled, and its history stays', async () => {
    expect((await start('config:shop', ['plan.yaml'], 60_000)).states).toEqual(['pending'])
    const after = await start('config:shop', [])
    expect(after).toEqual({ ended: 2, states: ['cancelled'], active: [], reasons: ['removed'] })
    const app = createApp({ store: 'sqlite:rota.db', durability: 'normal', directory, clock }, 'api')
    const ends = (await app.history({ action: 'trigger.end' })).map(({ actor, via }) => `${actor} ${via}`)
    await app.close()
    expect(ends).toEqual(['config:shop sync', 'config:shop sync'])
    // No entry comes back, and none ends twice.
    expect(await start('config:shop', [], 120_000)).toMatchObject({ ended: 0, states: ['cancelled'] })
  })

  it('Q2: continues while another app names it', async () => {
    await start('config:shop', ['plan.yaml'])
    expect((await start('config:blog', ['plan.yaml'])).active).toEqual(both)
    expect(await start('config:shop', [])).toMatchObject({ ended: 0, active: both })
    expect(await start('config:blog', [])).toMatchObject({ ended: 2, active: [] })
  })

  it('Q2: is not ended by an app that never named it', async () => {
    await start('config:shop', ['plan.yaml'])
    expect(await start('config:blog', [])).toMatchObject({ ended: 0, active: both })
    expect(await start('code:shop', [])).toMatchObject({ ended: 0, active: both })
  })

  it('Q2: passes an entry that another plan also has to that plan, with its waiting run', async () => {
    await start('config:shop', ['plan.yaml'], 60_000)
    writePlan('other.yaml', ['2026-01-05T00:01'])
    const after = await start('config:shop', ['other.yaml'])
    expect(after).toMatchObject({
      ended: 1,
      states: ['pending'],
      active: ['plan:other.yaml 20260105_0001'],
    })
    expect((await start('config:shop', ['other.yaml'], 120_000)).states).toEqual(['pending'])
  })

  it('Q2: is performed again when it is named again, except entries that were already planned', async () => {
    await start('config:shop', ['plan.yaml'], 60_000)
    await start('config:shop', [])
    const again = await start('config:shop', ['plan.yaml'], 60_000)
    expect(again.active).toEqual(both)
    expect(again.states).toEqual(['cancelled', 'pending'])
  })
})
