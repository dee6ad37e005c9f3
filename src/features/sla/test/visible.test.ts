import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { serveApp, testApp } from '../../../../test/fixtures/api-stage.js'
import { runHere } from '../../../../test/cli/in-process.js'
import { breachChange, type Breach } from '../../../kernel/sla/deadline.js'
import type { App } from '../../../app/rota.js'

const at = Date.UTC(2026, 0, 5, 2)

const ofTrigger: Breach = {
  rule: 'finished-by',
  of: 'trigger',
  name: 'nightly',
  trigger: 'nightly',
  job: 'report',
  run: '01kf000000aaaaaaaaaaaaaaaaaaaaaaaaaa',
  partition: null,
  dueAt: at,
  deadlineAt: at + 5 * 3_600_000,
  withinMs: null,
  at: at + 5 * 3_600_000 + 1,
}

const ofJob: Breach = {
  ...ofTrigger,
  rule: 'not-older-than',
  of: 'job',
  name: 'report',
  trigger: null,
  run: null,
  withinMs: 3_600_000,
  deadlineAt: at + 3_600_000,
}

async function withBreaches(app: App): Promise<void> {
  await app.triggers.add(
    { nightly: { job: 'report', cron: '0 2 * * *', sla: { finishedBy: '07:00' } } },
    { jobs: { report: { command: ['true'], sla: { notOlderThan: '1h' } } } },
  )
  const store = await app.store()
  await store.changeState({ changes: [ofTrigger, ofJob].map(breachChange), now: at })
}

describe('a breach', () => {
  it('is returned by the API together with the dispositions', async () => {
    const parts = testApp()
    await withBreaches(parts.app)
    const { ask } = await serveApp(parts)
    const all = await ask('GET', '/api/v1/breaches')
    expect(all.body.items).toMatchObject([
      { rule: 'not-older-than', of: 'job', name: 'report', run: null },
      { rule: 'finished-by', of: 'trigger', name: 'nightly', deadlineAt: '2026-01-05T07:00:00Z' },
    ])
    const named = async (query: string): Promise<string[]> =>
      (await ask('GET', `/api/v1/breaches?${query}`)).body.items.map(({ name }) => name)
    expect(await named('trigger=nightly')).toEqual(['nightly'])
    expect(await named('job=report')).toEqual(['report'])
    expect(await named('from=2026-01-06T00:00:00Z')).toEqual([])
    const ledger = await ask('GET', '/api/v1/ledger?trigger=nightly')
    expect(ledger.body).toMatchObject({ breaches: [{ name: 'nightly' }] })
    expect((await ask('GET', '/api/v1/ledger?reason=missed')).body).toMatchObject({ breaches: [] })
    const why = await ask(
      'GET',
      '/api/v1/why?trigger=nightly&from=2026-01-05T00:00:00Z&until=2026-01-06T00:00:00Z',
    )
    expect(why.body).toMatchObject({ breaches: [{ rule: 'finished-by' }] })
    const trigger = await ask('GET', '/api/v1/triggers/nightly')
    expect(trigger.body).toMatchObject({ sla: { finishedBy: '07:00' } })
    const job = await ask('GET', '/api/v1/jobs/report')
    expect(job.body).toMatchObject({ sla: { notOlderThanMs: 3_600_000 } })
  })

  it('is printed by the command line as a sentence', async () => {
    const parts = testApp()
    await withBreaches(parts.app)
    const { directory } = parts
    const run = async (...argv: string[]) =>
      await runHere([...argv, '--store', 'sqlite:rota.db', '--zone', 'UTC'], { directory })
    expect((await run('why', 'nightly', '2026-01-05')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'SLA: the run that was due at 2026-01-05 02:00:00 was not recorded as ended by 2026-01-05 07:00:00, as its SLA promises',
    )
    expect((await run('why', 'report', '2026-01-05')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'SLA: the last success was at 2026-01-05 02:00:00; by 2026-01-05 03:00:00 there should have been one, as the SLA allows 1h',
    )
    expect((await run('coverage', 'nightly')).stdout).not.toContain('SLA BREACHES')
    const { cursorAt } = await parts.app.triggers.get('nightly')
    const dueAt = new Date(cursorAt).getTime()
    const now: Breach = { ...ofTrigger, rule: 'started-within', dueAt, deadlineAt: dueAt + 1 }
    await (await parts.app.store()).changeState({ changes: [breachChange(now)], now: dueAt })
    expect((await run('coverage', 'nightly')).stdout).toMatch(/SLA BREACHES\n.* 1\n/)
    const show = async (name: string) =>
      (await runHere(['show', name, '--store', 'sqlite:rota.db'], { directory })).stdout
    expect(await show('nightly')).toMatch(/sla +finished by 07:00/)
    expect(await show('report')).toMatch(/sla +a success every 1h/)
  })

  it('can be about a promise from the command line, whose faults are reported with their place', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rota-sla-'))
    const add = async (...options: string[]) =>
      await runHere(
        ['add', 'ping', '--every', '10m', ...options, '--store', 'sqlite:rota.db', '--', 'true'],
        { directory },
      )
    const refused = await add('--not-older-than', '10m')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--not-older-than') as unknown })
    expect(refused.stderr).toContain('10m contradicts `every`')
    expect(
      await add('--started-within', '1m', '--finished-by', '07:30', '--not-older-than', '1h'),
    ).toMatchObject({
      code: 0,
    })
    const shown = await runHere(['show', 'ping', '--json', '--store', 'sqlite:rota.db'], { directory })
    expect(JSON.parse(shown.stdout)).toMatchObject({
      trigger: {
        sla: { startedWithinMs: 60_000, finishedBy: '07:30', timezone: 'UTC', notOlderThanMs: 3_600_000 },
      },
    })
  })

  it('is about the job if the command line adds no schedule', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rota-sla-'))
    const run = async (...argv: string[]) =>
      await runHere([...argv.slice(0, 2), '--store', 'sqlite:rota.db', ...argv.slice(2)], { directory })
    const promises = ['--started-within', '1m', '--finished-within', '1h', '--not-older-than', '2h']
    const byTime = ['--finished-by', '07:30', '--sla-zone', 'Europe/Berlin']
    expect(await run('add', 'mail', ...promises, ...byTime, '--', 'true')).toMatchObject({ code: 0 })
    const { stdout } = await run('show', 'mail', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      job: {
        sla: {
          startedWithinMs: 60_000,
          finishedWithinMs: 3_600_000,
          finishedBy: '07:30',
          notOlderThanMs: 7_200_000,
          timezone: 'Europe/Berlin',
        },
      },
    })
    const alone = await run('add', 'other', '--finished-by', '07:30')
    expect(alone).toMatchObject({ code: 2 })
    expect(alone.stderr).toContain('--finished-by: needs --cron, --every, --at, --url or -- command')
    const zone = await run('add', 'other', '--started-within', '1m', '--sla-zone', 'UTC', '--', 'true')
    expect(zone).toMatchObject({ code: 2 })
    expect(zone.stderr).toContain('--sla-zone: needs --finished-by')
  })

  it('uses the zone of the SLA if the schedule has none', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rota-sla-'))
    const store = ['--store', 'sqlite:rota.db']
    const zone = ['--finished-by', '07:30', '--sla-zone', 'Asia/Tokyo']
    const added = await runHere(['add', 'ping', '--every', '10m', ...zone, ...store, '--', 'true'], {
      directory,
    })
    expect(added).toMatchObject({ code: 0 })
    const { stdout } = await runHere(['show', 'ping', '--json', ...store], { directory })
    expect(JSON.parse(stdout)).toMatchObject({
      trigger: { sla: { finishedBy: '07:30', timezone: 'Asia/Tokyo' } },
    })
  })
})
