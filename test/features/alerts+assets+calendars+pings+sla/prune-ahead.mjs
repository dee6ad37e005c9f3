// Upkeep of a store as it will be hours from now: node prune-ahead.mjs <url> <ms>. Ends when nothing is left to prune.
import { openStore } from '../../../dist/app/store/open-store.js'
import { Upkeep } from '../../../dist/engine/upkeep/upkeep.js'
import { systemClock } from '../../../dist/time/clock.js'

const [url, aheadMs] = process.argv.slice(2)
const store = await openStore(url, { clock: systemClock, durability: 'full', directory: '/', create: false })
const ignored = { emit: () => undefined }
const upkeep = new Upkeep({
  store,
  now: () => Date.now() + Number(aheadMs),
  events: ignored,
  // No lease is checked: only history is pruned.
  steadyMs: () => 0,
  everyMs: Infinity,
  retentionMs: () => 30 * 86_400_000,
  onRuns: () => undefined,
})
process.stdout.write('begun\n')
while ((await upkeep.step()).afterMs === 0);
await store.close()
