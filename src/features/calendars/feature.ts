import type { Feature } from '../feature.js'

/** The feature `calendars` without its object on the app. What calendars do is decided in the kernel; this is where people look at them. */
export const feature = {
  name: 'calendars',
  routes: async () => (await import('./routes.js')).calendarRoutes,
  commands: {
    calendar: {
      summary: 'list and show calendars',
      group: 'features',
      load: async () => (await import('./commands.js')).calendar,
    },
  },
} as const satisfies Feature
