// Sensors that find nothing, like most polls: the idle cost of a thousand of them, and how often they can be polled.
import { inChild, inScratch, medians } from './measure.mjs'

/** Measures an empty engine, a thousand idle sensors, and a few that are polled as often as possible. */
export async function measureSensors({ rounds, parent, say }) {
  const count = 1000
  // One whole interval, so that every sensor is polled within it.
  const ms = 31_000
  const found = { empty: [], rest: [], busy: [] }
  for (let round = 1; round <= rounds; round += 1) {
    found.empty.push(await once({ count: 0, every: '30s', ms }))
    found.rest.push(await once({ count, every: '30s', ms }))
    found.busy.push(await once({ count: 100, every: '1ms', ms: 5000 }))
    say(`sensors, round ${round} of ${rounds}`)
  }
  const [empty, rest, busy] = [medians(found.empty), medians(found.rest), medians(found.busy)]
  return { count, empty, rest, busy }

  function once(flags) {
    return inScratch(parent, async (directory) => {
      const result = await inChild('./sensors-child.mjs', { ...flags, directory })
      if (result.error !== undefined) say(result.error)
      return result
    })
  }
}
