import { OrderedSet } from './ordered-set.js'

/** Ready runs by job and urgency: the most urgent run of each job is found without looking at the others. */
export class ReadyRuns<Row extends { readonly job: string }> {
  readonly #byUrgency: (a: Row, b: Row) => number
  readonly #byJob = new Map<string, OrderedSet<Row>>()
  readonly #heads: OrderedSet<Row>

  constructor(byUrgency: (a: Row, b: Row) => number) {
    this.#byUrgency = byUrgency
    this.#heads = new OrderedSet(byUrgency)
  }

  add(row: Row): void {
    const runs = this.#byJob.get(row.job) ?? new OrderedSet(this.#byUrgency)
    this.#byJob.set(row.job, runs)
    this.#keepHead(runs, () => runs.add(row))
  }

  delete(row: Row): void {
    const runs = this.#byJob.get(row.job)
    if (runs === undefined) return
    this.#keepHead(runs, () => runs.delete(row))
    if (runs.size === 0) this.#byJob.delete(row.job)
  }

  get isEmpty(): boolean {
    return this.#heads.size === 0
  }

  /** The most urgent run of the jobs that match. */
  firstOf(fits: (job: string) => boolean): Row | undefined {
    return this.#heads.find((row) => fits(row.job))
  }

  /** The ready runs of a job, most urgent first. */
  of(job: string): Iterable<Row> {
    return this.#byJob.get(job) ?? []
  }

  countOf(job: string): number {
    return this.#byJob.get(job)?.size ?? 0
  }

  #keepHead(runs: OrderedSet<Row>, change: () => void): void {
    const before = runs.first
    change()
    if (runs.first === before) return
    if (before !== undefined) this.#heads.delete(before)
    if (runs.first !== undefined) this.#heads.add(runs.first)
  }
}
