/** One field of an expression: its name in messages, its values, and the names that stand for values. */
export interface CronField {
  readonly name: string
  readonly low: number
  readonly high: number
  /** Names of three letters for the values from `low` on. */
  readonly names?: readonly string[]
  /** Which kind of day rules the field takes besides plain values. */
  readonly days?: 'of-month' | 'of-week'
}

/** The first year of the calendar; the masks of years count from it. */
export const FIRST_YEAR = 1970

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** The seven fields in the order of the longest form. */
export const cronFields = {
  second: { name: 'second', low: 0, high: 59 },
  minute: { name: 'minute', low: 0, high: 59 },
  hour: { name: 'hour', low: 0, high: 23 },
  dayOfMonth: { name: 'day of month', low: 1, high: 31, days: 'of-month' },
  month: { name: 'month', low: 1, high: 12, names: MONTHS },
  /** The reader also accepts 7 for Sunday. */
  dayOfWeek: { name: 'day of week', low: 0, high: 6, names: WEEKDAYS, days: 'of-week' },
  year: { name: 'year', low: FIRST_YEAR, high: 2199 },
} as const satisfies Record<string, CronField>
