/**
 * A parsed cron expression, frozen. Its sets are bit masks in plain numbers, so that a hundred thousand expressions
 * stay small and the next member of a set is one instruction away. Sixty values take two masks of thirty bits.
 */
export interface CronExpression {
  /** The text as it was written. */
  readonly source: string
  readonly secondsLow: number
  readonly secondsHigh: number
  readonly minutesLow: number
  readonly minutesHigh: number
  /** Bit h is hour h. */
  readonly hours: number
  /** Bit d - 1 is day d. */
  readonly daysOfMonth: number
  /** Bit 0 is January. */
  readonly months: number
  /** Bit 0 is Sunday. */
  readonly weekdays: number
  /** The rules for days that depend on the month, such as `L` or `5#2`. */
  readonly dayRules: DayRules | undefined
  /** Thirty years to a mask, from 1970; undefined means every year. */
  readonly years: readonly number[] | undefined
  /** Both day fields are restricted, so a day that satisfies either one counts. */
  readonly isEitherDay: boolean
  /** Neither the second, the minute nor the hour field starts with `*`: the times of day are fixed. */
  readonly hasFixedTimes: boolean
  /** The first matching time of a matching day, in seconds. */
  readonly firstSecondOfDay: number
  /** The last matching time of a matching day, in seconds. */
  readonly lastSecondOfDay: number
}

/** The day rules of an expression that depend on the month. */
export interface DayRules {
  /** `L` and `L-3`: bit n is the day n days before the last day of the month. */
  readonly daysFromEnd: number
  /** `LW` and `L-3W`: bit n is the day from Monday to Friday nearest to that day, within the month. */
  readonly workdaysFromEnd: number
  /** `15W`: bit d - 1 is the day from Monday to Friday nearest to day d, within the month. */
  readonly nearestWorkdays: number
  /** `5L` and `5#L`: bit w is the last weekday w of the month. */
  readonly lastWeekdays: number
  /** `5#2`: entry k - 1 is the set of weekdays whose k-th occurrence matches. */
  readonly nthWeekdays: readonly number[]
}
