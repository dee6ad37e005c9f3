// One of several processes that perform together: opens its peer, waits for the common start, and reports its progress.
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({
  options: {
    peer: { type: 'string' },
    concurrency: { type: 'string' },
    directory: { type: 'string' },
    url: { type: 'string' },
    variant: { type: 'string' },
  },
})
let performed = 0
const { open } = await import(`./peers/${flags.peer}.mjs`)
const peer = await open({
  directory: flags.directory,
  url: flags.url,
  variant: flags.variant,
  concurrency: Number(flags.concurrency),
  joins: true,
  perform: () => {
    performed += 1
  },
})
const cpuBefore = process.cpuUsage()
process.once('message', () => void peer.start())
process.once('disconnect', () => process.exit(0))
setInterval(() => {
  const { user, system } = process.cpuUsage(cpuBefore)
  process.send({ performed, cpuUs: user + system })
}, 10)
