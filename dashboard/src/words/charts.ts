/** Words of the charts that pages share. */
export const words = {
  running: (count: string) => `${count} running`,
  newest: (counts: readonly (readonly [state: string, count: number])[]) =>
    counts.length === 0
      ? 'No runs yet.'
      : `Newest runs: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}. The height is the duration.`,
} as const
