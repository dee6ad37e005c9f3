/** The lowest member of a mask that is not below `from`, or -1. */
export function nextBit(mask: number, from: number): number {
  const rest = from > 31 ? 0 : (mask >>> from) << from
  return rest === 0 ? -1 : 31 - Math.clz32(rest & -rest)
}

/** The highest member of a mask that is not above `from`, or -1. */
export function previousBit(mask: number, from: number): number {
  if (from < 0) return -1
  return 31 - Math.clz32(mask & (0xffff_ffff >>> (31 - from)))
}

/** The lowest member, not below `from`, of a set of sixty held in two masks of thirty, or -1. */
export function nextOfSixty(low: number, high: number, from: number): number {
  if (from < 30) {
    const found = nextBit(low, from)
    if (found >= 0) return found
  }
  const found = nextBit(high, from < 30 ? 0 : from - 30)
  return found < 0 ? -1 : found + 30
}

/** The highest member, not above `from`, of a set of sixty held in two masks of thirty, or -1. */
export function previousOfSixty(low: number, high: number, from: number): number {
  if (from >= 30) {
    const found = previousBit(high, from - 30)
    if (found >= 0) return found + 30
  }
  return previousBit(low, from < 30 ? from : 29)
}

/** Whether a set of sixty, held in two masks of thirty, has a member. */
export function hasOfSixty(low: number, high: number, value: number): boolean {
  return ((value < 30 ? low >>> value : high >>> (value - 30)) & 1) === 1
}
