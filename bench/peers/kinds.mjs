// The kinds of jobs for every peer: one at a time for each of a thousand keys, or fifty at a time in total.

export const limit = 50

/** The key of a job. */
export function keyOf({ i }) {
  return `key-${i % 1000}`
}
