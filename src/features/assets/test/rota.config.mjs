// Assets of three grains whose process is killed: a few milliseconds of work each, so that kills meet everything.
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
