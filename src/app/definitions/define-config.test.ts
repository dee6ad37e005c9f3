import { expect, it } from 'vitest'
import type { RunContext } from '../../engine/worker/perform.js'
import { defineConfig } from './define-config.js'

it('a config in code is returned unchanged, and its functions have typed arguments', () => {
  const jobs = {
    greet: { handler: (run: RunContext<{ to: string }>) => run.log(`hello ${run.payload.to}`), retry: 3 },
  }
  const config = defineConfig({
    app: 'shop',
    jobs: { ...jobs, count: { handler: (run) => run.attempt + 1 } },
    triggers: { often: { job: 'count', every: '1m' } },
  })
  expect(config.jobs?.['greet']).toBe(jobs.greet)
  expect(config).toMatchObject({ app: 'shop', triggers: { often: { every: '1m' } } })
})
