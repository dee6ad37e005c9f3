import { describe, expect, it } from 'vitest'
import { readSwitches } from './switches.js'

describe('the kill switches of an environment', () => {
  it('are not set by default', () => {
    expect(readSwitches({})).toEqual({ pipeline: undefined, scheduler: undefined, worker: undefined })
  })

  it.each(['true', '1', 'yes', 'y', 'on', 'enabled', 'TRUE', ' On '])('are on with %j', (word) => {
    expect(readSwitches({ PIPELINE_ENABLED: word }).pipeline).toBe(true)
  })

  it.each(['false', '0', 'no', 'n', 'off', 'disabled', 'Off'])('are off with %j', (word) => {
    const all = { PIPELINE_ENABLED: word, SCHEDULER_ENABLED: word, WORKER_ENABLED: word }
    expect(readSwitches(all)).toEqual({ pipeline: false, scheduler: false, worker: false })
  })

  it('are refused with any other value, in one error for all', () => {
    expect(() => readSwitches({ PIPELINE_ENABLED: '', WORKER_ENABLED: 'maybe' })).toThrow(
      expect.objectContaining({
        code: 'SWITCH_INVALID',
        faults: [
          expect.objectContaining({ path: 'PIPELINE_ENABLED' }),
          expect.objectContaining({ path: 'WORKER_ENABLED', message: '"maybe" is neither on nor off' }),
        ],
      }),
    )
  })
})
