// Assets by hour, day and month whose process is killed. Each takes a few milliseconds, so that kills hit every step.
import { setTimeout as wait } from 'node:timers/promises'

const materialize = () => wait(Math.random() * 20)

export default {
  app: 'kill-test',
  store: process.env.KILL_TEST_STORE,
  lease: '1s',
  concurrency: 20,
  assets: {
    hours: { partitions: 'hourly', maxCrashes: 100, materialize },
    days: { partitions: 'daily', deps: ['hours'], maxCrashes: 100, materialize },
    months: { partitions: 'monthly', deps: ['days'], maxCrashes: 100, materialize },
  },
}
