// Handles commands: each attempt writes one line to a file, and continues until another file exists.
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const { JOBS_TEST_PERFORMED: performed, JOBS_TEST_GO: go } = process.env

async function take(run) {
  appendFileSync(performed, `${run.payload.command} ${run.attempt}\n`)
  while (!existsSync(go)) await wait(20)
}

export default {
  app: 'jobs-test',
  lease: '1s',
  jobs: { 'on-command': { handler: take } },
  triggers: {},
}
