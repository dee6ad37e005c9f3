// Many idle triggers: how long they take to define, their cost, and how late a thousand of them are that are due in the
// same second.
import { inChild, inScratch, medians } from './measure.mjs'

/** Measures an empty engine and one with many triggers; returns the medians. */
export async function measureTimers({ rounds, quick, parent, say }) {
  const count = quick ? 10_000 : 100_000
  const empty = []
  const full = []
  for (let round = 1; round <= rounds; round += 1) {
    empty.push(await once({ count: 0, due: 0 }))
    full.push(await once({ count, due: 1000 }))
    say(`timers, round ${round} of ${rounds}`)
  }
  const without = medians(empty)
  const many = medians(full)
  return { count, empty: without, many, runs: full, aboveEmptyMiB: many.rssMiB - without.rssMiB }

  function once(flags) {
    return inScratch(parent, async (directory) => {
      const result = await inChild(
        './timers-child.mjs',
        { ...flags, directory },
        { nodeFlags: ['--expose-gc'] },
      )
      if (result.error !== undefined) say(result.error)
      return result
    })
  }
}
