// The app that is killed while it reads a stream: a growing file with one item per line.
import { readFileSync } from 'node:fs'

const stream = process.env.KILL_TEST_STREAM
const mostAtOnce = 25

const reader = {
  init: () => ({ kind: 'ok', state: { line: 0 } }),
  poll: ({ line }) => {
    const lines = readFileSync(stream, 'utf8').split('\n').slice(0, -1)
    const found = lines.slice(line, line + mostAtOnce)
    const state = { line: line + found.length }
    if (found.length === 0) return { kind: 'no-trigger', state }
    const observations = found.map((key) => ({ key, partition: 'all' }))
    return { kind: 'trigger', observations, state, more: state.line < lines.length }
  },
}

export default {
  app: 'kill-test',
  store: process.env.KILL_TEST_STORE,
  lease: '1s',
  jobs: { work: { handler: () => undefined, maxCrashes: 100 } },
  sensors: { stream: { sensor: reader, job: 'work', every: '3ms', timeout: '100ms' } },
}
