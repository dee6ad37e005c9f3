import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.js'

/**
 * Tests whose files share a process, so that it loads the sources once, which takes half of the CPU time of a small
 * file. The others have large simulations or faults that the next file should not meet.
 */
const sharing = ['src/**/*.test.ts', 'test/*.test.ts', 'test/!(faults|simulation)/**/*.test.ts']
const excluded = ['**/campaign/**', '**/node_modules/**']
const common = { pool: 'forks', testTimeout: 60_000, hookTimeout: 60_000 } as const

export default defineConfig({
  test: {
    // Only here: projects that extend this would each make a directory inside the one before.
    globalSetup: ['test/run-directory.ts'],
    // Many tests wait for processes and disks: left alone, vitest would keep one of two cores for itself.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...common, name: 'sharing', include: sharing, exclude: excluded, isolate: false } },
      {
        test: {
          ...common,
          name: 'apart',
          // The last one is an example that readers of the guide copy.
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/testing/*.vitest.mjs'],
          exclude: [...excluded, ...sharing],
        },
      },
    ],
  },
})
