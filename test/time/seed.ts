/** The seed of this run's random cases: given to repeat a failure, otherwise new each time. */
export const seed = Number(process.env['ROTA_TEST_SEED'] ?? Date.now() % 2 ** 31)

/** A small generator of pseudo-random numbers from 0 to below 1, the same for the same seed. */
export function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
