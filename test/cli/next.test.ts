import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadApp } from '../../src/app/definitions/load-app.js'
import { emptyDirectory, rota, tooWide } from './rota.js'

async function lines(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await rota(['next', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toContain('\u001b')
  expect(tooWide(stdout)).toEqual([])
  return stdout.trimEnd().split('\n')
}

/** The table without relative times, whose texts and widths depend on the minute of the test. */
function table(all: readonly string[]): string[] {
  return all.slice(3).map((line) => line.replace(/ +(in )?\d+[ydhms]\S*( ago)? */, '  ').trimEnd())
}

describe('rota next', () => {
  it('marks times that are moved when clocks go forward', async () => {
    const all = await lines('30 2 * * *', '--zone', 'Europe/Berlin', '--from', '2026-03-28', '-n', '3')
    expect(all.slice(0, 3)).toEqual([
      'At 02:30 (30 2 * * * in Europe/Berlin)',
      '',
      'Europe/Berlin                   UTC',
    ])
    expect(table(all)).toEqual([
      'Sat 2026-03-28 02:30:00 +01:00  2026-03-28 01:30:00Z',
      'Sun 2026-03-29 03:00:00 +02:00  2026-03-29 01:00:00Z  moved',
      'Mon 2026-03-30 02:30:00 +02:00  2026-03-30 00:30:00Z',
      '',
      '2026-03-29: clocks skip 02:30:00; it runs once, right after',
    ])
  })

  it('marks times that are dropped or added when clocks go back', async () => {
    const where = ['--zone', 'Europe/Berlin', '--from', '2026-10-25', '-n', '2']
    const [vixie, realTime, star] = await Promise.all([
      lines('30 2 * * *', ...where),
      lines('30 2 * * *', ...where, '--dst', 'real-time'),
      lines('*/30 2 * * *', '--zone', 'Europe/Berlin', '--from', '2026-10-25T02:15:00+02:00', '-n', '2'),
    ])
    expect(table(vixie).slice(0, 3)).toEqual([
      'Sun 2026-10-25 02:30:00 +02:00  2026-10-25 00:30:00Z',
      expect.stringMatching(/^Sun 2026-10-25 02:30:00 {9}- +dropped$/),
      'Mon 2026-10-26 02:30:00 +01:00  2026-10-26 01:30:00Z',
    ])
    expect(vixie.at(-1)).toBe('2026-10-25: clocks show 02:30:00 twice; it runs the first time only')
    expect(table(realTime)[1]).toBe('Sun 2026-10-25 02:30:00 +01:00  2026-10-25 01:30:00Z  added')
    expect(realTime.at(-1)).toBe('2026-10-25: clocks show 02:30:00 twice; it runs both times')
    expect(table(star)[1]).toBe('Sun 2026-10-25 02:00:00 +01:00  2026-10-25 01:00:00Z  added')
  })

  it('prints the same as JSON', async () => {
    const args = ['30 2 * * *', '--zone', 'europe/berlin', '--from', '2026-03-29', '-n', '1', '--dst', 'skip']
    const { code, stdout } = await rota(['next', ...args, '--json'])
    expect(code).toBe(0)
    const change = {
      kind: 'dropped',
      cause: 'gap',
      changeAt: '2026-03-29T01:00:00Z',
      firstLocal: '2026-03-29T02:30:00',
      lastLocal: '2026-03-29T02:30:00',
    }
    expect(JSON.parse(stdout)).toEqual({
      expression: '30 2 * * *',
      description: 'At 02:30',
      timezone: 'Europe/Berlin',
      dst: 'skip',
      from: '2026-03-28T23:00:00Z',
      occurrences: [{ at: '2026-03-30T00:30:00Z', local: '2026-03-30T02:30:00+02:00', change: null }],
      changes: [change],
    })
  })

  it('says when there are no more', async () => {
    expect(await lines('0 0 0 1 1 ? 2027', '--from', '2028-01-01')).toContain(
      'never again after 2028-01-01T00:00:00Z',
    )
  })

  it('refuses an invalid expression, zone, time or count, with what is allowed', async () => {
    const [range, zone, from, count, field] = await Promise.all([
      rota(['next', '61 * * * *']),
      rota(['next', '@daily', '--zone', 'EST']),
      rota(['next', '@daily', '--from', 'soon']),
      rota(['next', '@daily', '--count', '0']),
      rota(['next', '* * * *', '--json']),
    ])
    for (const { code, stdout } of [range, zone, from, count, field])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(range.stderr).toMatch(
      /^error: <expression>: "61 \* \* \* \*": minute 61 is not within 0-59, at position 0 \[CRON_RANGE\]\n$/,
    )
    expect(zone.stderr).toContain('[ZONE_UNKNOWN]')
    expect(from.stderr).toMatch(
      /^error: --from: "soon": .* \(allowed: now, today.*\) \[LOCAL_TIME_INVALID\]\n$/,
    )
    expect(count.stderr).toContain('--count: "0" is not allowed (allowed: a whole number from 1 to 10000)')
    expect(JSON.parse(field.stderr)).toMatchObject({ error: { code: 'CRON_FIELD_COUNT' } })
  })

  it('shows when a trigger is due, and what its calendars and blackouts exclude', async () => {
    const cwd = emptyDirectory()
    const config = {
      store: 'sqlite:rota.db',
      calendars: { weekend: { weekdays: ['sat', 'sun'] } },
      blackouts: [{ from: '2026-01-06', to: '2026-01-06', note: 'upgrade' }],
      jobs: { work: { command: ['true'] } },
      triggers: {
        daily: {
          job: 'work',
          cron: '0 9 * * *',
          timezone: 'Europe/Berlin',
          calendar: { exclude: 'weekend' },
        },
      },
    }
    writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify(config))
    const app = await loadApp(join(cwd, 'rota.config.json'), { directory: cwd })
    await app.start({ roles: { scheduler: true, worker: false } })
    await app.triggers.add({ added: { job: 'work', cron: '0 9 * * *', timezone: 'UTC' } })
    await app.stop()
    const { stdout } = await rota(['next', 'daily', '--from', '2026-01-02T12:00', '-n', '2'], { cwd })
    const rows = table(stdout.trimEnd().split('\n')).map((line) => line.replace(/ {3,}/, '  '))
    expect(rows).toEqual([
      'Sat 2026-01-03 09:00:00 +01:00  -  calendar weekend, 2 in a row',
      'Mon 2026-01-05 09:00:00 +01:00  2026-01-05 08:00:00Z',
      'Tue 2026-01-06 09:00:00 +01:00  -  blackout upgrade',
      'Wed 2026-01-07 09:00:00 +01:00  2026-01-07 08:00:00Z',
    ])
    // A blackout of the app applies to triggers that are added at run time.
    const added = await rota(['next', 'added', '--from', '2026-01-05T12:00Z', '-n', '1', '--json'], { cwd })
    expect(JSON.parse(added.stdout)).toMatchObject({
      trigger: 'added',
      occurrences: [{ at: '2026-01-07T09:00:00Z' }],
      excluded: [{ firstAt: '2026-01-06T09:00:00Z', count: 1, reason: 'blackout', detail: 'upgrade' }],
    })
    const unknown = await rota(['next', 'dayly'], { cwd })
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean daily?') as string,
    })
  })
})
