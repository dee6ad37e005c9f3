import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadPlan } from './file.js'
import type { Plan } from './definition.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { createApp } from '../../app/rota.js'
import { enqueueEntry, type EnqueuedEntry, type EntryRequest } from './enqueue-entry.js'
import { schedulePass } from './pass/schedule-pass.js'

const hour = 3_600_000
const monday = Date.UTC(2026, 0, 5)

describe.each(['memory:', 'sqlite:rota.db', 'files:queue'])('a missed entry (%s)', (url) => {
  async function staged(params = '') {
    const directory = mkdtempSync(join(tmpdir(), 'rota-entry-'))
    const clock = new FakeClock(monday)
    const planPath = join(directory, 'plan.yaml')
    const write = async (text: string): Promise<Plan> => {
      const entry = `{ publish_at: "2026-01-03T09:00", pipeline_path: web.yml${text} }`
      writeFileSync(planPath, `schema_version: v1\ntimezone: UTC\nentries: [${entry}]\n`)
      return await loadPlan(planPath)
    }
    const plan = await write(params)
    writeFileSync(join(directory, 'web.yml'), 'steps: [{ uses: publish }]')
    const app = createApp({ store: url, durability: 'normal', directory, clock }, 'code:test')
    app.pipelineStep('publish', () => undefined)
    onTestFinished(async () => await app.stop({ grace: 0 }))
    const store = await app.store()
    const [entry] = plan.entries
    const id = entry?.jobId ?? ''
    const ask = async (request: Partial<EntryRequest> = {}): Promise<EnqueuedEntry['outcome']> => {
      const usual = { plan, planPath: 'plan.yaml', source: 'plan:plan.yaml', id, isDry: false }
      return (await enqueueEntry(store, { ...usual, now: clock.now(), ...request })).outcome
    }
    /** Removes finished runs, as `queue purge` does. */
    const purge = async (): Promise<void> => {
      const [run] = await store.runs({ limit: 9 })
      await store.cancel({ run: run?.id ?? '', now: clock.now(), reason: 'test' })
      await store.prune({ before: clock.now() + 1, limit: 9, now: clock.now() + 1 })
      expect(await store.runs({ limit: 9 })).toEqual([])
    }
    return { app, clock, store, plan, entry, write, ask, purge }
  }

  it('Q4: of a pass becomes a run on request, once, even after its run was removed', async () => {
    const { store, plan, entry, ask, purge, clock } = await staged()
    const request = { plan, source: 'plan:plan.yaml', windowMs: 0, lookBackMs: 24 * hour, isDry: false }
    const pass = async () => await schedulePass(store, { ...request, now: clock.now() })
    expect((await pass()).skipped).toMatchObject([{ code: 'entry_missed' }])
    expect(await ask({ isDry: true })).toBe('enqueued')
    expect(await store.runs({ limit: 9 })).toEqual([])
    expect(await ask()).toBe('enqueued')
    expect(await ask({ id: entry?.runId ?? '' })).toBe('already_enqueued')
    expect(await store.runs({ limit: 9 })).toMatchObject([
      { state: 'pending', dueAt: entry?.dueAt, labels: { job_id: entry?.jobId }, origin: 'trigger' },
    ])
    expect((await pass()).skipped).toMatchObject([{ code: 'already_enqueued' }])
    await purge()
    expect(await ask()).toBe('already_enqueued')
  })

  it('Q4: of an engine becomes an additional run on request, once, even after its run was removed', async () => {
    const { app, clock, store, entry, ask, purge } = await staged()
    app.plans.add('plan.yaml')
    await app.start({ roles: { worker: false } })
    const trigger = `plan:${entry?.jobId}`
    const from = new Date(entry?.dueAt ?? 0)
    const kinds = async () => (await app.why(trigger, { from })).explanations.map(({ kind }) => kind)
    while ((await kinds())[0] !== 'range') await clock.advance(10)
    expect([await ask(), await ask()]).toEqual(['enqueued', 'already_enqueued'])
    expect(await app.why(trigger, { from })).toMatchObject({
      explanations: [{ kind: 'range', range: { reason: 'missed' } }],
      beside: [{ state: 'pending', dueAt: entry?.dueAt, labels: { run_id: entry?.runId }, origin: 'manual' }],
    })
    expect((await app.coverage())[0]).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
    await purge()
    expect(await ask()).toBe('already_enqueued')
    expect(await store.runs({ limit: 9 })).toEqual([])
  })

  it('Q5: is refused with an unknown id, and with other params than were enqueued', async () => {
    const { ask, write, entry } = await staged(', params: { a: 1 }')
    await expect(ask({ id: `${entry?.jobId.slice(0, 11)}x` })).rejects.toThrow(
      `plan.yaml has no entry with the id ${entry?.jobId.slice(0, 11)}x; did you mean ${entry?.jobId}?; \`rota plan check plan.yaml\` shows them`,
    )
    await ask()
    const plan = await write(', params: { a: 2 }')
    await expect(ask({ plan })).rejects.toMatchObject({ code: 'DEFINITION_CONFLICT' })
  })
})
