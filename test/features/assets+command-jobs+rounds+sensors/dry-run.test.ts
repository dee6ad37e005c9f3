import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../src/app/rota.js'

const dryRun = true

/** A started app without a worker, whose store is a file, with something of every feature in it. */
async function stage(): Promise<{ app: Rota; backfill: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'rota-dry-'))
  const app = rota({ store: 'sqlite:rota.db', directory, durability: 'normal' })
  onTestFinished(async () => {
    await app.stop({ grace: 0 })
    rmSync(directory, { recursive: true, force: true })
  })
  for (const name of ['one', 'two']) app.job(name, () => undefined)
  app.assets.define('days', { partitions: 'daily', materialize: () => undefined })
  app.sensors.define('sensor', {
    job: 'one',
    every: '1h',
    enabled: false,
    sensor: {
      init: () => ({ kind: 'ok', state: 0 }),
      poll: (state) => ({ kind: 'no-trigger', state }),
    },
  })
  await app.start({ roles: { worker: false } })
  await app.freeze()
  await app.rounds.start('round', { every: '1h', services: ['one'] })
  await app.assets.schedule('days', { cron: '0 1 * * *' })
  await app.commands.add({ id: 'there', type: 'recurring', schedule: '0 9 * * *', command: 'one' })
  const { backfill } = await app.assets.backfill('days', { partitions: ['2026-01-01', '2026-01-02'] })
  return { app, backfill: backfill?.id ?? '' }
}

/** Everything in the store except the heartbeats of this process. */
async function dump(app: Rota): Promise<unknown> {
  const store = await app.store()
  const { facts } = await store.facts({ limit: 10_000 })
  return facts.filter(({ kind }) => kind !== 'worker')
}

describe('a dry run of a feature', () => {
  it('returns the same as the change, and writes and emits nothing', async () => {
    const { app, backfill } = await stage()
    const told: string[] = []
    app.on('operation', ({ operation }) => void told.push(operation))
    const before = await dump(app)
    const partition = '2026-01-03'
    expect(await app.rounds.start('new', { every: '1h', services: ['two'], dryRun })).toBeUndefined()
    expect(await app.rounds.start('round', { services: ['one', 'two'], dryRun })).toBeUndefined()
    expect(await app.rounds.stop('round', { dryRun })).toBeUndefined()
    expect(await app.rounds.setTiming('one', { every: '2h', dryRun })).toMatchObject({
      service: 'one',
      intervalSeconds: 7200,
    })
    expect(await app.sensors.reset('sensor', { keys: true, dryRun })).toEqual({ forgotten: undefined })
    expect(await app.sensors.remove('sensor', { dryRun })).toBeUndefined()
    expect(await app.assets.schedule('days', { name: 'noon', cron: '0 12 * * *', dryRun })).toBeUndefined()
    expect(await app.assets.unschedule('days', { dryRun })).toEqual({ removed: true })
    expect(await app.assets.unschedule('none', { dryRun })).toEqual({ removed: false })
    expect(await app.assets.materialize('days', { partition, wait: true, dryRun })).toMatchObject({
      created: true,
    })
    expect(await app.backfills.cancel(backfill, { dryRun })).toMatchObject({
      state: 'cancelled',
      cancelledRuns: 2,
    })
    expect(await app.backfills.start(backfill, { dryRun })).toMatchObject({ state: 'started' })
    const added = { id: 'new', type: 'oneshot', executeAt: '2030-01-05T09:00:00Z', command: 'two' } as const
    const wouldBe = await app.commands.add(added, { dryRun })
    expect(await app.commands.runNow('there', { dryRun })).toMatchObject({ created: true })
    expect(await app.commands.remove('there', { dryRun })).toMatchObject({ id: 'there', state: 'scheduled' })
    expect(await app.enqueue('one', undefined, { dryRun })).toMatchObject({ created: true })
    expect(await dump(app)).toEqual(before)
    expect(told).toEqual([])
    expect(await app.commands.add(added)).toEqual(wouldBe)
  })

  it('finds the run that a real request would find', async () => {
    const { app } = await stage()
    const partition = '2026-01-03'
    const { id } = await app.assets.materialize('days', { partition })
    expect(await app.assets.materialize('days', { partition, dryRun })).toEqual({ id, created: false })
  })

  it('refuses what the change would refuse', async () => {
    const { app } = await stage()
    const conflict = { code: 'DEFINITION_CONFLICT' }
    const recurring = { type: 'recurring', schedule: '0 9 * * *', command: 'one' } as const
    await expect(app.commands.add({ id: 'there', ...recurring }, { dryRun })).rejects.toMatchObject(conflict)
    await expect(app.rounds.start('days', { every: '1h', services: ['one'], dryRun })).rejects.toMatchObject(
      conflict,
    )
    await expect(app.rounds.start('new', { every: '1h', services: ['none'], dryRun })).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
    })
    await expect(app.rounds.stop('none', { dryRun })).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
    await expect(app.assets.schedule('none', { cron: '0 1 * * *', dryRun })).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
    })
    await expect(app.assets.materialize('days', { partition: 'never', dryRun })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.backfills.cancel('none', { dryRun })).rejects.toMatchObject({
      code: 'BACKFILL_UNKNOWN',
    })
    await expect(app.sensors.reset('none', { keys: false, dryRun })).rejects.toMatchObject({
      code: 'TRIGGER_UNKNOWN',
    })
  })
})
