// The results on Postgres, as tables.
import { atLeast, atMost, fixed, targetRows, times, whole } from './cells.mjs'

/** The beginning of a page about Postgres only. */
export const preambleOfPostgres = `# Measured on Postgres

\`node bench/run.mjs --only=postgres,costs,history,foreign --report=<this file>\` writes this page. Absolute figures vary
by a fifth and more between runs and between machines; compare only figures of one run.

- The server is the packaged PostgreSQL, on the same machine as its clients, with 256 MB of shared buffers. It waits for
  its disk (\`fsync\` and \`synchronous_commit\` are on); all other settings are defaults.
- Every measurement is a new process with its own schema. Figures are medians of the rounds. The peers take turns within a
  round, with the same number of jobs and the same payload. Before performing, the tables of all peers are vacuumed and
  analyzed, and a checkpoint is made.
- Performing starts with a full queue. Either one process performs what it has enqueued, or four processes, connected and
  ready, start together and perform what a fifth has enqueued. It ends when the storage has no unfinished job.
- graphile-worker and BullMQ remove finished jobs; Rota and pg-boss keep them. graphile-worker is measured with its default
  settings, and with its local queue and its batches, which its documentation offers for high loads. pg-boss uses batches of 1000, and looks again immediately after a full batch and after a job that its own process
  has recorded.
- "ratio" is Rota divided by the peer. The project set itself the targets.
`

/** The queue compared with its peers. */
export function postgres(byWorkload) {
  const peers = Object.keys(Object.values(byWorkload)[0])
  const others = peers.filter((peer) => peer !== 'rota')
  const { idle, ...rates } = byWorkload
  const measured = Object.entries(rates).filter(([, byPeer]) =>
    Object.values(byPeer).some(({ perSecond }) => perSecond !== undefined),
  )
  const head = ['per second', 'rota', ...others.flatMap((peer) => [peer, 'ratio'])]
  const rows = measured.map(([name, byPeer]) => {
    const ours = byPeer['rota']?.perSecond
    const cells = others.flatMap((peer) => [
      whole(byPeer[peer]?.perSecond),
      times(ours, byPeer[peer]?.perSecond),
    ])
    return [name, whole(ours), ...cells]
  })
  const rest = peers.map((peer) => {
    const { p50Ms, p99Ms, cpuPercent, rssMiB } = idle[peer]
    return [peer, fixed(p50Ms), fixed(p99Ms), fixed(cpuPercent), whole(rssMiB)]
  })
  const hasRest = peers.some((peer) => idle[peer].p50Ms !== undefined)
  const targets = postgresTargets(byWorkload, others)
  return [
    { title: 'Queue on Postgres', rows: [head, ...rows] },
    {
      title: 'Queue on Postgres, idle',
      rows: hasRest ? [['', 'latency p50 ms', 'p99 ms', 'idle CPU %', 'memory MiB'], ...rest] : [],
    },
    { title: 'Queue on Postgres against its targets', rows: targets.length > 0 ? targetRows(targets) : [] },
  ].filter((section) => section.rows.length > 1)
}

function postgresTargets(byWorkload, others) {
  const rate = (workload, peer) => byWorkload[workload]?.[peer]?.perSecond
  const inFlight = 'enqueue, 50 in flight'
  const best = Math.max(...others.map((peer) => rate(inFlight, peer) ?? 0))
  const p50 = (peer) => byWorkload['idle']?.[peer]?.p50Ms
  const perform = (name, peer, must, wish) =>
    atLeast(`${name}, of ${peer}`, rate(name, 'rota') / rate(name, peer), must, wish)
  return [
    perform('perform, concurrency 1', 'graphile-worker', 1, 1.3),
    perform('perform, concurrency 10', 'graphile-worker batched', 1, 1.5),
    perform('perform, concurrency 10, 4 processes', 'graphile-worker', 1, 1.3),
    atLeast('enqueue, 50 in flight, of the best peer', rate(inFlight, 'rota') / best, 10, 25),
    atMost('latency p50, of graphile-worker', p50('rota') / p50('graphile-worker'), 0.6, 0.4),
  ].filter(({ value }) => Number.isFinite(value))
}

/** The cost of a run, and of waiting. */
export function costs({ rate, bulk, perform, room, steady, rest }) {
  const row = (name, one, clientUs) => [
    name,
    whole(one.walBytes),
    fixed(one.transactions),
    whole(one.serverUs),
    whole(clientUs),
  ]
  const { runsPerSecond, workerPercent, producerPercent } = steady
  const each = [
    ['per run', 'bytes of WAL', 'transactions', 'CPU µs, server', 'CPU µs, Node'],
    row(`enqueued, 1000 at a time (${whole(bulk.perSecond)} a second)`, bulk, bulk.clientUs),
    row(`performed at full speed (${whole(perform.perSecond)} a second)`, perform, perform.clientUs),
    row(
      `enqueued and performed one by one (${whole(runsPerSecond)} a second)`,
      steady,
      ((workerPercent + producerPercent) * 10_000) / runsPerSecond,
    ),
  ]
  const second = [
    ['each second', `at ${whole(rate)} runs`, 'idle'],
    ['% of a core, server', fixed(steady.serverPercent), fixed(rest.serverPercent)],
    ['% of a core, the process that performs', fixed(workerPercent), fixed(rest.workerPercent)],
    ['% of a core, the process that enqueues', fixed(producerPercent), '-'],
    ['transactions', whole(steady.transactionsPerSecond), fixed(rest.transactionsPerSecond)],
    ['KiB of WAL', whole(steady.walPerSecond / 1024), fixed(rest.walPerSecond / 1024)],
    ['connections', `${steady.connections} of two processes`, `${rest.connections} of one process`],
  ]
  return [
    { title: 'Cost of a run', rows: each },
    { title: 'Cost of a second', rows: second },
    { title: 'Sizing, calculated from these costs', rows: sizingRows(steady, room) },
    { title: `Disk space of ${whole(room.runs)} more runs, vacuumed`, rows: sizeRows(room) },
  ]
}

/** The cost of a run, for a guide: one by one, and in groups at full speed. */
export function costsInShort({ rate, bulk, perform, room, steady, rest }) {
  const both = (name) => bulk[name] + perform[name]
  const nodeUs = ((steady.workerPercent + steady.producerPercent) * 10_000) / steady.runsPerSecond
  const kilobytes = (bytes) => `${fixed(bytes / 1000)} KB`
  return [
    ['per run', `one by one, ${whole(rate)} per second`, 'in groups, at full speed', 'idle, per second'],
    [
      'CPU time, server',
      `${whole(steady.serverUs)} µs`,
      `${whole(both('serverUs'))} µs`,
      `${fixed(rest.serverPercent)} %`,
    ],
    [
      'CPU time, Node',
      `${whole(nodeUs)} µs`,
      `${whole(both('clientUs'))} µs`,
      `${fixed(rest.workerPercent)} %`,
    ],
    ['WAL', kilobytes(steady.walBytes), kilobytes(both('walBytes')), kilobytes(rest.walPerSecond)],
    [
      'transactions',
      fixed(steady.transactions),
      fixed(both('transactions')),
      fixed(rest.transactionsPerSecond),
    ],
    ['disk space while it is kept', `${whole(room.totalBytes / room.runs)} bytes`, 'the same', ''],
  ]
}

const dayS = 86_400
const gigabyte = 1e9

/** From the costs of runs that come one by one, which are higher; the disk space is that of runs without payload. */
export function sizingRows({ serverUs, walBytes, runsPerSecond, workerPercent, producerPercent }, room) {
  const nodeUs = ((workerPercent + producerPercent) * 10_000) / runsPerSecond
  const head = [
    'runs per second',
    'cores, server',
    'cores, Node',
    'GB of WAL per day',
    'GB kept for a day',
    'kept for 30 days',
  ]
  const rows = [10, 100, 500, 1000, 5000].map((rate) => {
    const dayBytes = (rate * dayS * room.totalBytes) / room.runs
    return [
      whole(rate),
      fixed((rate * serverUs) / 1e6),
      fixed((rate * nodeUs) / 1e6),
      fixed((rate * dayS * walBytes) / gigabyte),
      fixed(dayBytes / gigabyte),
      fixed((30 * dayBytes) / gigabyte),
    ]
  })
  return [head, ...rows]
}

function sizeRows({ runs, tableBytes, totalBytes, indexes }) {
  const row = (name, bytes) => [name, fixed(bytes / 2 ** 20), whole(bytes / runs)]
  const shown = Object.entries(indexes).filter(([, bytes]) => bytes / runs >= 2)
  return [
    ['', 'MiB', 'bytes each run'],
    row('table', tableBytes),
    ...shown.map(([name, bytes]) => row(name, bytes)),
    row('together', totalBytes),
  ]
}

/** The same work with and without a history. */
export function history({ history: count, sizes, read, pruneMs, idle, claim, ...rates }) {
  const byName = Object.entries(rates).filter(([, one]) => one.empty?.perSecond !== undefined)
  const ratio = ({ empty, full }) => full.perSecond / empty.perSecond
  const latency = (name, { empty, full }, key) => [
    name,
    fixed(full[key]),
    fixed(empty[key]),
    times(full[key], empty[key]),
  ]
  const work = [
    ['', 'with it', 'empty', ''],
    ...byName.map(([name, one]) => [
      `${name}, a second`,
      whole(one.full.perSecond),
      whole(one.empty.perSecond),
      times(one.full.perSecond, one.empty.perSecond),
    ]),
    latency('idle latency p50, ms', idle, 'p50Ms'),
    latency('idle latency p99, ms', idle, 'p99Ms'),
    latency('end ten and claim ten p50, ms', claim, 'claimP50Ms'),
    latency('end ten and claim ten p99, ms', claim, 'claimP99Ms'),
  ]
  const targets = byName.map(([name, one]) => atLeast(`${name}, of an empty one`, ratio(one), 0.8, 1))
  const reading = [
    ['', 'ms'],
    ...Object.entries(read).map(([name, ms]) => [name, fixed(ms)]),
    ['pruning 1000 runs', fixed(pruneMs)],
  ]
  const title = `History of ${whole(count)} finished runs`
  return [
    { title, rows: work },
    { title: `${title}: against its targets`, rows: targetRows(targets) },
    { title: `${title}: reading and pruning it`, rows: reading },
    { title: `${title}: room`, rows: sizeRows(sizes) },
  ]
}

/** Claims while another client keeps a transaction open. */
export function foreign({ rate, heldS, perSecond, windows, p50Ratio, p99Ratio }) {
  const rows = windows.map((window, i) => [
    `${window.phase}, ${(i + 1) * 10} s`,
    whole(window.performed),
    whole(window.deadRows),
    fixed(window.claimP50Ms),
    fixed(window.claimP99Ms),
    fixed(window.startP50Ms),
    fixed(window.startP99Ms),
  ])
  const head = [
    'the foreign transaction',
    'performed',
    'dead rows',
    'claim p50 ms',
    'claim p99 ms',
    'start p50 ms',
    'start p99 ms',
  ]
  const title = `Foreign transaction, open for ${whole(heldS)} s at ${whole(rate)} runs a second`
  const targets = [
    atMost('claim p99 at the end, of its start', p99Ratio, 3, 1.5),
    atMost('claim p50 at the end, of its start', p50Ratio, 3, 1.5),
    atLeast('runs recorded a second, of those wanted', perSecond / rate, 0.95, 0.99),
  ]
  return [
    { title, rows: [head, ...thinned(rows)] },
    { title: 'Foreign transaction against its targets', rows: targetRows(targets) },
  ]
}

/** An hour has too many windows for a page: about thirty of them, evenly. */
function thinned(rows) {
  const step = Math.ceil(rows.length / 30)
  return rows.filter((_, i) => i % step === 0 || i === rows.length - 1)
}
