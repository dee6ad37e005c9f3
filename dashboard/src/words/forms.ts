/** Words of the fields that dialogs share. */
export const words = {
  until: {
    label: 'Until',
    open: 'somebody ends it',
    hour: 'in 1 hour',
    four: 'in 4 hours',
    day: 'in 24 hours',
    other: 'a time…',
    at: 'Ends at',
    zone: (zone: string) => `In your zone, ${zone}.`,
    ends: 'Ends automatically at',
  },
} as const
