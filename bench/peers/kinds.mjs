// The kinds of jobs for every peer: one at a time for each of a thousand keys, or fifty at a time in total.

export const limit = 50

/** The key of a job: one of a thousand, in an order like that of real work, so that two jobs of a key may follow each other. */
export function keyOf({ i }) {
  return `key-${(Math.imul(i + 1, 2_654_435_761) >>> 8) % 1000}`
}
