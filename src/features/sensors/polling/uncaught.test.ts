import { describe, expect, it } from 'vitest'
import { second, settle } from '../../../../test/fixtures/engine-stage.js'
import { found, Probe, recordIn } from '../test/probe.js'
import { sensorCast } from '../test/sensor-cast.js'
import { later, traced } from '../../../../test/fixtures/traced.js'

describe('an uncaught error of a sensor', () => {
  it('fails the poll that it comes from, and no other; its observations are found again', async () => {
    let polls = 0
    const { stage, process } = await traced((stray) => ({
      jobs: { work: () => undefined },
      parts: [
        sensorCast({
          bad: {
            sensor: new Probe(() => {
              polls += 1
              if (polls === 1) setImmediate(() => stray('lost in a poll'))
              return found(['a'], { n: polls })
            }),
          },
          good: { sensor: new Probe(() => found(['b'])) },
        }),
      ],
    }))
    await settle()
    const reason = 'uncaught error: lost in a poll'
    expect(process.of('sensor:failed')).toMatchObject([{ sensor: 'bad', reason, failures: 1 }])
    expect((await recordIn(stage, 'bad')).state).toEqual({ n: 0 })
    await stage.pass(120 * second)
    expect((await stage.runs('bad')).map(({ state }) => state)).toEqual(['done'])
    expect((await stage.runs('good')).map(({ state }) => state)).toEqual(['done'])
    expect(process.of('sensor:recovered')).toMatchObject([{ sensor: 'bad' }])
  })

  it('aborts the signal of a poll in progress', async () => {
    const probe = new Probe(
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    )
    const { process } = await traced((stray) => ({
      jobs: { work: () => undefined },
      parts: [
        sensorCast({
          s: {
            sensor: {
              init: () => probe.init(),
              poll: (state, context) => {
                setImmediate(() => stray('lost'))
                return probe.poll(state, context)
              },
            },
          },
        }),
      ],
    }))
    await settle()
    expect(probe.polls[0]?.signal.aborted).toBe(true)
    expect(process.of('sensor:failed').length).toBe(1)
  })

  it('is only reported if it comes between two polls, from its watch or from its cleanup', async () => {
    const { stage, process } = await traced((stray, { clock }) => ({
      jobs: { work: () => undefined },
      parts: [
        sensorCast({
          late: {
            sensor: new Probe((state) => {
              later(clock, 5 * second, () => stray('after the poll'))
              return { kind: 'no-trigger', state }
            }),
          },
          watched: {
            sensor: Object.assign(new Probe(), { cleanup: () => void stray('cleaning') }),
            watch: () => {
              later(clock, second, () => stray('watching'))
              return () => undefined
            },
          },
        }),
      ],
    }))
    await stage.pass(6 * second)
    const told = () =>
      process.of('trouble').map(({ where, error }) => `${where}: ${(error as Error).message}`)
    expect(told()).toEqual(['sensor watched: watching', 'sensor late: after the poll'])
    await process.engine.stop({ graceMs: 0 })
    expect(told().at(-1)).toBe('sensor watched: cleaning')
    expect(process.of('sensor:failed')).toEqual([])
  })
})
