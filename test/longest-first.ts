import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from 'vitest/node'

/** The files that take longest, however short they are to read. */
const longest = [
  'test/browser/large.test.ts',
  'test/simulation/memory.test.ts',
  'test/browser/accessibility.test.ts',
  'src/store/files/files.test.ts',
  'test/kill/kill.test.ts',
  'test/features/alerts+assets+calendars+pings+sla/kill.test.ts',
  'test/simulation/sqlite.test.ts',
  'src/features/plans/test/one-shot.test.ts',
  'src/store/postgres/postgres.test.ts',
  'src/features/bulk/test/kill.test.ts',
  'src/features/plans/test/kill.test.ts',
  'src/features/assets/test/kill.test.ts',
  'src/features/sensors/test/kill.test.ts',
  'src/features/rounds/test/simulation.test.ts',
  'test/kill/files.test.ts',
  'test/kill/postgres.test.ts',
  'test/package.test.ts',
]

/** Starts the longest files first: a long one at the end would leave the other cores without work. */
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
