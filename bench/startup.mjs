// Starting on a store with a long history and many triggers, and performing on it, compared with an empty one.
import { inChild, inScratch, medians } from './measure.mjs'

/** Builds the big store once, then starts on it and on empty ones in turns. */
export function measureStartup({ rounds, quick, parent, say, history }) {
  const triggers = quick ? 10_000 : 100_000
  return inScratch(parent, async (big) => {
    say(`startup: making a store with ${history.toLocaleString('en')} finished runs`)
    const built = await child({ task: 'build', directory: big, history, triggers }, say)
    const results = { stored: [], code: [], onEmpty: [], onBig: [] }
    for (let round = 1; round <= rounds; round += 1) {
      results.stored.push(await child({ task: 'start', directory: big, triggers: 0 }, say))
      results.code.push(await child({ task: 'start', directory: big, triggers }, say))
      const count = quick ? 10_000 : 50_000
      results.onBig.push(await child({ task: 'perform', directory: big, count }, say))
      results.onEmpty.push(
        await inScratch(parent, (directory) => child({ task: 'perform', directory, count }, say)),
      )
      say(`startup, round ${round} of ${rounds}`)
    }
    const found = Object.fromEntries(Object.entries(results).map(([name, runs]) => [name, medians(runs)]))
    return {
      history,
      triggers,
      built,
      ...found,
      rateRatio: found.onBig.perSecond / found.onEmpty.perSecond,
      runs: results,
    }
  })
}

async function child(flags, say) {
  const result = await inChild('./startup-child.mjs', flags, { timeoutMs: 3_600_000 })
  if (result.error !== undefined) say(result.error)
  return result
}
