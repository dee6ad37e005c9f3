import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from 'vitest/node'

/** The files that take longest, however short they are to read. */
const longest = [
  'test/browser/large.test.ts',
  'test/browser/accessibility.test.ts',
  'test/simulation/sqlite.test.ts',
  'test/simulation/memory.test.ts',
  'test/simulation/detects.test.ts',
  'test/browser/timeline-missed.test.ts',
  'test/browser/live.test.ts',
  'src/store/postgres/postgres.test.ts',
  'test/kill/idempotency.test.ts',
  'src/store/files/files.test.ts',
  'src/features/plans/test/one-shot.test.ts',
  'test/browser/embedded.test.ts',
  'src/store/sqlite/sqlite.test.ts',
  'test/browser/empty.test.ts',
  'test/serving-process.test.ts',
  'test/browser/pause.test.ts',
  'test/kill/kill.test.ts',
  'test/browser/failure.test.ts',
  'test/features/alerts+assets+calendars+pings+sla/kill.test.ts',
  'test/browser/backfill-trigger.test.ts',
  'test/rolling/rolling-deploy.test.ts',
  'test/browser/zones.test.ts',
  'test/package.test.ts',
  'test/browser/simulate.test.ts',
  'test/examples.test.ts',
  'test/browser/backfill.test.ts',
  'test/cli/workers.test.ts',
  'src/features/bulk/test/browser.test.ts',
  'test/browser/roles.test.ts',
  'src/features/sensors/test/kill.test.ts',
  'test/attack.test.ts',
  'test/browser/undo.test.ts',
  'test/serve.test.ts',
  'test/browser/address.test.ts',
  'test/cli/first-day.test.ts',
  'test/faults/postgres.test.ts',
  'src/features/command-jobs/test/commands.test.ts',
  'test/postgres/silent.test.ts',
  'test/kill/postgres.test.ts',
  'test/browser/edit.test.ts',
  'src/features/bus/test/postgres.test.ts',
  'test/browser/hostile.test.ts',
  'src/features/rounds/test/crash-demo.test.ts',
  'src/features/isolation/isolation.test.ts',
  'test/cli/up.test.ts',
  'test/cli/reload.test.ts',
  'src/features/assets/test/kill.test.ts',
  'src/features/rounds/test/shared-service.test.ts',
  'test/postgres/slots-together.test.ts',
  'test/postgres/start-while-away.test.ts',
  'src/features/alerts/test/under-kills.test.ts',
  'test/time/zone-scan.test.ts',
  'src/features/plans/test/kill.test.ts',
  'src/features/rounds/test/simulation.test.ts',
  'src/features/plans/test/bad-input.test.ts',
  'test/cli/corpus.test.ts',
  'test/postgres/refusals.test.ts',
]

/**
 * Starts the longest files first: a long one at the end would leave the other cores without work. Files that use a
 * browser alternate with those that mostly wait.
 */
export class LongestFirst implements TestSequencer {
  readonly #usual: BaseSequencer

  constructor(vitest: Vitest) {
    this.#usual = new BaseSequencer(vitest)
  }

  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return await this.#usual.shard(files)
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is no array.
    const sorted = await this.#usual.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((file) => moduleId.endsWith(file))
  return index === -1 ? longest.length : index
}
