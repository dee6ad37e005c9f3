import type { Trigger } from '../../../../src/client/operations.js'

/** When a trigger is due, in one line: its expression and its zone, or what its kind says. */
export function scheduleLine({ schedule }: Trigger): string {
  const { kind, ...rest } = schedule
  const texts = ['expression', 'every', 'at', 'timezone', 'dst'].flatMap((key) => {
    const value = rest[key]
    return typeof value === 'string' ? [value] : []
  })
  return [kind, ...texts].join(' · ')
}

/** The zone of a trigger, where its kind has one. */
export function zoneOf({ schedule }: Trigger): string | undefined {
  const zone = schedule['timezone'] ?? schedule['zone']
  return typeof zone === 'string' ? zone : undefined
}
