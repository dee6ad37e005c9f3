import type { Feature } from '../feature.js'

/** The feature `calendars` without its object on the app. The kernel applies calendars; this feature shows them. */
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
