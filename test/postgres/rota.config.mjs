// The app whose worker is stopped: every attempt writes a line when it begins and one when it ends.
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

async function slow(run) {
  const say = (what) =>
    appendFileSync(process.env.STOP_TEST_DIARY, `${what} ${run.id} ${run.attempt} ${process.pid}\n`)
  say('begin')
  await wait(500)
  say('end')
}

export default {
  app: 'stop-test',
  store: process.env.STOP_TEST_STORE,
  lease: '1s',
  jobs: { slow: { handler: slow } },
}
