// The cost of watching many files: time and state of a sweep that finds everything, and of one that finds nothing.
// Usage: node bench/sensors-files.mjs [--files=100000] [--flat] [--dir=<directory>]
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { fromDist, inScratch, residentMiB } from './measure.mjs'

/** Sweeps a tree twice; with `flat` all files are in one directory, otherwise a thousand in each. */
export function measureFileSweeps({ files = 100_000, flat = false, parent, say }) {
  return inScratch(parent, async (directory) => {
    for (let index = 0; index < files; index += 1) {
      const folder = flat ? directory : join(directory, `d${Math.floor(index / 1000)}`)
      if (index === 0 || (!flat && index % 1000 === 0)) mkdirSync(folder, { recursive: true })
      closeSync(openSync(join(folder, `part-${index}.csv`), 'w'))
    }
    say?.('files written')
    const { filesSensor } = await fromDist('features/sensors/kinds/files/sensor.js')
    const { sensor, config } = filesSensor({ directory, glob: '**/*.csv' })
    const { state } = await sensor.init(config)
    const first = await sweep({ sensor, config, state, now: new Date(Date.now() + 60_000) })
    const atRest = await sweep({ sensor, config, state: first.state, now: new Date(Date.now() + 120_000) })
    delete first.state
    delete atRest.state
    return { first, atRest, residentMiB: await residentMiB() }
  })
}

async function sweep({ sensor, config, state, now }) {
  const result = { state, polls: 0, reported: 0, largestStateBytes: 0, longestPollMs: 0 }
  const startMs = performance.now()
  for (let more = true; more; ) {
    const pollMs = performance.now()
    const { signal } = new AbortController()
    const polled = await sensor.poll(result.state, { config, now, timezone: 'UTC', signal })
    if (polled.kind === 'error') throw new Error(polled.reason)
    const text = JSON.stringify(polled.state)
    result.state = JSON.parse(text)
    result.polls += 1
    result.reported += polled.observations?.length ?? 0
    result.largestStateBytes = Math.max(result.largestStateBytes, text.length)
    result.longestPollMs = Math.max(result.longestPollMs, performance.now() - pollMs)
    more = polled.more === true
  }
  return { ...result, seconds: (performance.now() - startMs) / 1000 }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '100000' },
      flat: { type: 'boolean', default: false },
      dir: { type: 'string' },
    },
  })
  console.log(await measureFileSweeps({ files: Number(values.files), flat: values.flat, parent: values.dir }))
}
