// The queue: enqueueing, performing, latency. Every workload of every peer runs in its own process, and the peers take
// turns within a round, so that noise affects all of them equally.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inChild, inScratch, medians } from './measure.mjs'
import { startRedis } from './redis.mjs'

const workloads = [
  { name: 'enqueue one by one', workload: 'enqueue-one', count: 2000 },
  { name: 'enqueue, 50 in flight', workload: 'enqueue-50', count: 20_000 },
  { name: 'enqueue, bulk of 1000', workload: 'enqueue-bulk', count: 50_000 },
  { name: 'perform, concurrency 1', workload: 'perform', count: 10_000, concurrency: 1 },
  { name: 'perform, concurrency 10', workload: 'perform', count: 50_000, concurrency: 10 },
  { name: 'perform, concurrency 100', workload: 'perform', count: 50_000, concurrency: 100 },
  { name: 'idle', workload: 'idle', count: 500, concurrency: 10 },
]

/** Measures all peers; returns for each workload the medians by peer. */
export function measureQueue({ rounds, quick, parent, say, peers: wanted, workload: chosen }) {
  return inScratch(parent, async (scratch) => {
    const redis = await startRedis(scratch)
    if (redis === undefined) say('BullMQ is left out: redis-server is not installed')
    if (!hasPlainjob()) say('plainjob is left out: better-sqlite3 is not installed in bench/')
    const peers = peersHere(redis).filter(({ name }) => wanted === undefined || wanted.includes(name))
    const results = new Map(
      workloads.map(({ name }) => [name, new Map(peers.map((peer) => [peer.name, []]))]),
    )
    try {
      for (let round = 1; round <= rounds; round += 1) {
        for (const { name, count, ...flags } of workloads) {
          if (chosen !== undefined && !name.includes(chosen)) continue
          for (const peer of peers) {
            const own = { ...flags, ...peer.flags, count: quick ? count / 5 : count }
            const result = await inScratch(scratch, (directory) =>
              inChild('./queue-child.mjs', { ...own, directory }),
            )
            if (result.error !== undefined) say(result.error)
            results.get(name).get(peer.name).push(result)
          }
          say(`queue, round ${round} of ${rounds}: ${name}`)
        }
      }
    } finally {
      await redis?.stop()
    }
    return Object.fromEntries(
      [...results].map(([name, byPeer]) => [
        name,
        Object.fromEntries([...byPeer].map(([peer, runs]) => [peer, { ...medians(runs), runs }])),
      ]),
    )
  })
}

function peersHere(redis) {
  const rota = ['full', 'normal'].map((variant) => ({
    name: `rota ${variant}`,
    flags: { peer: 'rota', variant },
  }))
  const bullmq = { name: 'BullMQ', flags: { peer: 'bullmq', redisPort: redis?.port } }
  const plainjob = ['full', 'normal'].map((variant) => ({
    name: `plainjob ${variant}`,
    flags: { peer: 'plainjob', variant },
  }))
  return [...rota, ...(redis === undefined ? [] : [bullmq]), ...(hasPlainjob() ? plainjob : [])]
}

function hasPlainjob() {
  const driver = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'
  return existsSync(fileURLToPath(new URL(driver, import.meta.url)))
}
