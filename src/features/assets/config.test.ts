import { describe, expect, it } from 'vitest'
import { placeOf } from '../../kernel/definition/faults.js'
import { readConfig } from '../../formats/config/config.js'
import { readSection } from './config.js'

function faultsOf(config: unknown): string[] {
  const place = placeOf()
  readConfig(
    config,
    { directory: '.', app: 'test', sectionKeys: ['assets', 'schedules'], readers: [readSection] },
    place,
  )
  return place.faults.map(({ path, message }) => `${path}: ${message}`)
}

const command = ['node', 'make.mjs']

describe('assets and schedules of a config', () => {
  it('F1: have the same keys as in code', () => {
    const assets = {
      raw_events: { partitions: { kind: 'daily', timezone: 'America/New_York' }, command, retry: 3 },
      regions: { partitions: { kind: 'keys', keys: ['eu', 'us'] }, http: { url: 'http://localhost/' } },
      report: { partitions: 'monthly', deps: ['raw_events', { asset: 'regions', map: 'all' }], command },
      whole: { materialize: () => undefined, follow: 'manual' },
    }
    const schedules = {
      raw_events: { cron: '0 2 * * *', timezone: 'America/New_York' },
      europe: { asset: 'regions', cron: '0 * * * *', partition: { label: 'eu' }, enabled: false },
    }
    expect(faultsOf({ assets, schedules })).toEqual([])
  })

  it('F2: are refused with all their faults together', () => {
    expect(
      faultsOf({
        assets: {
          raw: { partitions: 'dayly', command, partition: 'x' },
          clean: { deps: [{ asset: 'raw', map: 'some' }, 'raw'], follow: 'no', command },
          both: { materialize: () => undefined, handler: () => undefined },
          nothing: { partitions: 'daily' },
          alone: { follow: 'upstream', command },
        },
        schedules: {
          rew: { cron: '0 2 * * *' },
          raw: { job: 'raw' },
          own: 5,
        },
      }),
    ).toEqual([
      'assets.raw.partition: unknown option; did you mean partitions?',
      'assets.raw.partitions: "dayly" is not allowed; did you mean daily?',
      'assets.clean.deps[0].map: "some" is not allowed; did you mean same?',
      'assets.clean.follow: "no" is not allowed',
      'assets.both.materialize: materialize and handler cannot be combined',
      'assets.nothing: no action is defined',
      'assets.alone.follow: upstream contradicts `deps`: there is nothing to follow',
      'schedules.raw.job: a schedule is that of an asset',
      'schedules.raw: it has no schedule',
      'schedules.own: a map of options was expected, not 5',
      'schedules.rew.asset: no asset of this file is named rew; did you mean raw?',
      'schedules.own.asset: no asset of this file is named own',
    ])
  })
})
