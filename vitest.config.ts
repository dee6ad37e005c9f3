import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.js'

export default defineConfig({
  test: {
    // The last one is an example that readers of the guide copy.
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/testing/*.vitest.mjs'],
    exclude: ['**/campaign/**', '**/node_modules/**'],
    globalSetup: ['test/run-directory.ts'],
    pool: 'forks',
    // Files share a process, so that it loads the sources once, which takes half of the CPU time of a small file.
    isolate: false,
    // Many tests wait for processes and disks: left alone, vitest would keep one of two cores for itself.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
