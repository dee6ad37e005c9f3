// Results as tables, for a terminal and for a page.
import { atLeast, atMost, fixed, targetRows, times, toTable, whole } from './cells.mjs'
import { costs, foreign, history, postgres, preambleOfPostgres } from './postgres-tables.mjs'

/** The tables of the results, in order. */
export function sectionsOf(results) {
  const makers = {
    queue,
    postgres,
    costs,
    history,
    foreign,
    timers,
    sensors,
    s3,
    startup,
    cold,
    cron,
    footprint,
  }
  return Object.entries(makers).flatMap(([name, make]) =>
    results[name] === undefined ? [] : make(results[name]),
  )
}

/** For a terminal. */
export function toText(results, sections) {
  const parts = sections.map(({ title, rows }) => {
    const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
    const lines = rows.map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
        .join('  '),
    )
    return `${title}\n${lines.join('\n')}\n`
  })
  return `\n${parts.join('\n')}\n${circumstances(results)}\n`
}

/** For a page. */
export function toMarkdown(results, sections) {
  const tables = sections.map(({ title, rows }) => `## ${title}\n\n${toTable(rows)}\n`)
  const isOfPostgres = Object.keys(results).every((name) => !elsewhere.has(name))
  const words = isOfPostgres ? preambleOfPostgres : preamble
  return `${words}\n${circumstances(results)}\n\n${tables.join('\n')}`
}

/** The measurements without Postgres. */
const elsewhere = new Set(['queue', 'timers', 'sensors', 's3', 'startup', 'cold', 'cron', 'footprint'])

const preamble = `# Measured

\`npm run bench -- --report=<this file>\` writes this page. Absolute figures vary by a fifth and more between runs and
between machines; compare only figures of one run.

- Every measurement is a new process. Figures are medians of the rounds. The peers take turns within a round, so that
  noise affects all of them equally. All use the same number of jobs, the same payload and the same directory.
- Enqueueing counts acknowledged jobs. Performing starts with a full queue and the start of the worker, and ends when the
  storage, queried independently of the handler, has no unfinished job. Latency is the time from the call of enqueue to
  the handler, one job at a time.
- Rota \`full\` survives a power loss and keeps every finished run. BullMQ runs on Redis with its append-only file synced
  every second, and removes finished jobs. plainjob runs on SQLite with the same setting of \`synchronous\`.
- "ratio" is Rota \`full\` divided by the peer: more is better, for latencies less. The project set itself the targets: what
  is required, and the goal.
`

function circumstances({ machine, options, loadBefore, loadAfter }) {
  const load = `load average ${loadBefore[0].toFixed(1)} before, ${loadAfter[0].toFixed(1)} after`
  const priority = machine.priority === 0 ? '' : `, at priority ${machine.priority} for everyone`
  const how = `${options.rounds} rounds${options.quick ? ', quick' : ''}${priority}`
  return `${machine.date.replace('T', ' ')} UTC, ${machine.cores} cores, Node ${machine.node.slice(1)}, ${machine.platform}, ${how}, ${load}.`
}

const own = 'rota full'

function queue(byWorkload) {
  const measured = Object.entries(byWorkload).filter(([, byPeer]) => byPeer[own]?.error === undefined)
  const rates = measured.filter(
    ([name, byPeer]) => name !== 'idle' && Object.values(byPeer).some((one) => one.perSecond),
  )
  const peers = Object.keys(Object.values(byWorkload)[0])
  const others = peers.filter((peer) => !peer.startsWith('rota'))
  const sections = []
  if (rates.length > 0) {
    const head = [
      'per second',
      ...peers.filter((peer) => peer.startsWith('rota')),
      ...others.flatMap((peer) => [peer, 'ratio']),
    ]
    sections.push({
      title: 'Queue',
      rows: [head, ...rates.map(([name, byPeer]) => rateRow(name, byPeer, { peers, others }))],
    })
  }
  const idle = byWorkload['idle']
  if (idle?.[own]?.p50Ms !== undefined) sections.push({ title: 'Queue, idle', rows: idleRows(idle, peers) })
  const targets = queueTargets(byWorkload)
  if (targets.length > 0) sections.push({ title: 'Queue against its targets', rows: targetRows(targets) })
  return sections
}

function rateRow(name, byPeer, { peers, others }) {
  const rota = peers.filter((peer) => peer.startsWith('rota')).map((peer) => whole(byPeer[peer]?.perSecond))
  const cells = others.flatMap((peer) => {
    const theirs = byPeer[peer]?.perSecond
    return [whole(theirs), times(byPeer[own]?.perSecond, theirs)]
  })
  return [name, ...rota, ...cells]
}

function idleRows(idle, peers) {
  const head = ['', 'latency p50 ms', 'p99 ms', 'p50 of BullMQ', 'idle CPU %', 'memory MiB']
  const rows = peers.map((peer) => {
    const { p50Ms, p99Ms, cpuPercent, rssMiB } = idle[peer]
    return [
      peer,
      fixed(p50Ms),
      fixed(p99Ms),
      times(p50Ms, idle['BullMQ']?.p50Ms),
      fixed(cpuPercent),
      whole(rssMiB),
    ]
  })
  return [head, ...rows]
}

function queueTargets(byWorkload) {
  const rate = (workload, peer) => byWorkload[workload]?.[peer]?.perSecond
  const ratio = (workload, peer) => rate(workload, own) / rate(workload, peer)
  const idle = (peer, what) => byWorkload['idle']?.[peer]?.[what]
  const bulk = 'enqueue, bulk of 1000'
  return [
    atLeast('perform, concurrency 10, of BullMQ', ratio('perform, concurrency 10', 'BullMQ'), 3, 6),
    atLeast('perform, concurrency 100, of BullMQ', ratio('perform, concurrency 100', 'BullMQ'), 3, 6),
    atLeast('enqueue, 50 in flight, of BullMQ', ratio('enqueue, 50 in flight', 'BullMQ'), 1, 2),
    atLeast('bulk, of plainjob full', ratio(bulk, 'plainjob full'), 0.5, 1),
    atLeast('bulk, of BullMQ', ratio(bulk, 'BullMQ'), 5, 5),
    atMost('latency p50, of BullMQ', idle(own, 'p50Ms') / idle('BullMQ', 'p50Ms'), 1, 0.6),
    atMost('latency p99, of BullMQ', idle(own, 'p99Ms') / idle('BullMQ', 'p99Ms'), 2, 1),
    atMost('idle CPU %', idle(own, 'cpuPercent'), 0.2, 0.2),
  ].filter(({ value }) => Number.isFinite(value))
}

function timers({ count, many, aboveEmptyMiB }) {
  const targets = [
    atMost('defined and started, s', many.definedMs / 1000, 5, 2),
    atMost('memory above an empty engine, MiB', aboveEmptyMiB, 100, 20),
    atMost('idle CPU %', many.cpuPercent, 0.2, 0.02),
    atMost('1,000 due in one second: lateness p50, ms', many.p50Ms, 100, 20),
    atMost('1,000 due in one second: lateness p99, ms', many.p99Ms, 100, 20),
  ]
  return [{ title: `${whole(count)} distinct triggers`, rows: targetRows(targets) }]
}

function startup({ history, triggers, built, stored, code, onEmpty, onBig, rateRatio }) {
  const targets = [
    atMost('started, triggers in the store, s', stored.startedMs / 1000, 1, 0.3),
    atMost('started, triggers defined by its code, s', code.startedMs / 1000, 1, 0.3),
    atLeast('rate of performing, of that on an empty store', rateRatio, 0.8, 1),
  ]
  const title = `A store with ${whole(history)} finished runs and ${whole(triggers)} triggers (${whole(built.fileMiB)} MiB)`
  const rows = [
    ['per second', 'on it', 'on an empty one'],
    ['perform, concurrency 100', whole(onBig.perSecond), whole(onEmpty.perSecond)],
  ]
  return [
    { title, rows: targetRows(targets) },
    { title: 'Performing on it', rows },
  ]
}

function sensors({ count, empty, rest, busy }) {
  const rows = [
    ['sensors that find nothing', 'measured'],
    [`first poll of ${whole(count)}, ms`, whole(rest.firstMs)],
    [`${whole(count)} polled every 30 s: polls a second`, fixed(rest.perSecond)],
    [`${whole(count)} polled every 30 s: % of a core`, fixed(rest.cpu)],
    ['none at all: % of a core', fixed(empty.cpu)],
    [`${whole(count)} of them: MiB above none`, fixed(rest.rssMiB - empty.rssMiB)],
    ['polled as often as possible: polls a second', whole(busy.perSecond)],
  ]
  return [{ title: 'Idle sensors', rows }]
}

function s3({ keys, any, ordered }) {
  const row = (name, { requests, seconds, cpuSeconds, largestStateBytes }) => [
    name,
    whole(requests),
    fixed(seconds),
    fixed(cpuSeconds),
    whole(largestStateBytes),
  ]
  const rows = [
    ['listing a bucket', 'requests', 'seconds', 'seconds of a core', 'state, bytes'],
    row('first sweep, everything is new', any.first),
    row('idle', any.atRest),
    row('keys that sort by time: first sweep', ordered.first),
    row('keys that sort by time: idle', ordered.atRest),
  ]
  return [{ title: `An S3 sensor on a bucket of ${whole(keys)} keys`, rows }]
}

function cold({ ms, nextRatio, scheduleRatio }) {
  const rows = [
    ['process', 'ms', 'of an empty Node'],
    ...Object.entries(ms).map(([name, each]) => [name, whole(each), fixed(each / ms['node -e 0'])]),
  ]
  const targets = [
    atMost('rota next, of an empty Node', nextRatio, 2, 1.3),
    atMost('rota schedule with 1,000 entries, of an empty Node', scheduleRatio, 3, 2),
  ]
  return [
    { title: 'A command from nothing', rows },
    { title: 'A command against its targets', rows: targetRows(targets) },
  ]
}

function cron(libraries) {
  const rota = libraries.find(({ name }) => name === 'rota')
  const other = (name) => libraries.find((library) => library.name === name)
  const rows = libraries.map(({ name, parse, next, note }) => [
    note === '' ? name : `${name} (${note})`,
    whole(parse),
    name === 'rota' ? '' : times(rota.parse, parse),
    whole(next),
    name === 'rota' ? '' : times(rota.next, next),
  ])
  const targets = [
    atLeast('next, of croner', rota.next / other('croner').next, 20, 20),
    atLeast('next, of cronosjs', rota.next / other('cronosjs').next, 20, 100),
    atLeast('parse, of cronosjs', rota.parse / other('cronosjs').parse, 1, 1.5),
  ]
  return [
    { title: 'Cron', rows: [['per second', 'parse', 'ratio', 'next', 'ratio'], ...rows] },
    { title: 'Cron against its targets', rows: targetRows(targets) },
  ]
}

function footprint({ tarballMiB, installedMiB, packages }) {
  const targets = [atMost('installed, MiB', installedMiB, 60, 40), atMost('packages', packages, 70, 45)]
  return [{ title: `npm install rota (a tarball of ${fixed(tarballMiB)} MiB)`, rows: targetRows(targets) }]
}
