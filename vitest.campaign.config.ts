import { tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'

// Large stores need more room than memory has, and durable servers a real disk.
process.env['TMPDIR'] ??= tmpdir()

// The long runs: thousands of kills, years of simulation. One file at a time, so that each has the machine to itself.
export default defineConfig({
  test: {
    include: ['test/**/campaign/**/*.test.ts', 'src/features/*/test/campaign/**/*.test.ts'],
    globalSetup: ['test/run-directory.ts'],
    pool: 'forks',
    fileParallelism: false,
    passWithNoTests: true,
    testTimeout: 4 * 3_600_000,
    hookTimeout: 10 * 60_000,
  },
})
