import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // The last one is an example that readers of the guide copy.
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/testing/*.vitest.mjs'],
    exclude: ['**/test/campaign/**', '**/node_modules/**'],
    globalSetup: ['test/run-directory.ts'],
    pool: 'forks',
    // Many tests wait for processes and disks: left alone, vitest would keep one of two cores for itself.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
