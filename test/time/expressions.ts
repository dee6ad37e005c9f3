import * as fc from 'fast-check'

/** Every kind of expression that is accepted, as text. */
export function anyExpression(): fc.Arbitrary<string> {
  const five = fc.tuple(minuteField(), hourField(), dateField(), monthField(), weekdayField())
  const six = fc.tuple(minuteField(), five).map(([second, rest]) => [second, ...rest])
  const seven = fc.tuple(six, yearField()).map(([rest, year]) => [...rest, year])
  return fc.oneof({ weight: 3, arbitrary: five }, six, seven).map((fields) => fields.join(' '))
}

/** Expressions that fire at midnight on days chosen in every way there is. */
export function anyDayExpression(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom('0 0', '0 0 0'), dateField(), monthField(), weekdayField())
    .map((fields) => fields.join(' '))
}

const MONTHS = ['jan', 'Feb', 'MAR', 'APR', 'may', 'JUN', 'JUL', 'AUG', 'Sep', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'mon', 'TUE', 'Wed', 'THU', 'FRI', 'sat']

function minuteField(): fc.Arbitrary<string> {
  return fc.oneof(list(items(0, 59)), fc.constantFrom('*', '0', '30', '*/15'))
}

function hourField(): fc.Arbitrary<string> {
  return fc.oneof(list(items(0, 23)), fc.constantFrom('*', '0', '1,2,3', '*/2'))
}

function dateField(): fc.Arbitrary<string> {
  const nearest = fc
    .oneof(fc.integer({ min: 1, max: 31 }), fc.constantFrom(1, 28, 29, 30, 31))
    .map((day) => `${day}W`)
  const fromEnd = fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom('', 'W', 'w'))
    .map(([days, workday]) => `L-${days}${workday}`)
  const item = fc.oneof(
    { weight: 3, arbitrary: items(1, 31) },
    nearest,
    fromEnd,
    fc.constantFrom('L', 'LW', 'l', 'lw'),
  )
  return fc.oneof(fc.constantFrom('*', '?', '*/1', '*'), list(item))
}

function monthField(): fc.Arbitrary<string> {
  const named = fc.constantFrom(...MONTHS)
  const range = fc
    .tuple(fc.nat(11), fc.nat(11))
    .map(([a, b]) => `${MONTHS[Math.min(a, b)]}-${MONTHS[Math.max(a, b)]}`)
  return fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, list(fc.oneof(items(1, 12), named, range)))
}

function weekdayField(): fc.Arbitrary<string> {
  const day = fc.oneof(
    fc.integer({ min: 0, max: 7 }).map(String),
    fc.nat(6).map((index) => String(WEEKDAYS[index])),
  )
  const last = fc.tuple(day, fc.constantFrom('L', '#L')).map((parts) => parts.join(''))
  const nth = fc.tuple(day, fc.integer({ min: 1, max: 5 })).map(([weekday, count]) => `${weekday}#${count}`)
  const toSunday = fc.constantFrom('FRI-SUN', 'mon-sun', '5-7', '0-7', '6-7/2')
  const item = fc.oneof(items(0, 7), day, last, nth, toSunday)
  return fc.oneof({ weight: 2, arbitrary: fc.constantFrom('*', '?', '*/1') }, list(item))
}

function yearField(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom('*', '2020-2030', '1970/2', '*/3'), list(items(2020, 2030)))
}

function list(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','))
}

/** A value, a range, or either with a step, within the limits of a field. */
function items(low: number, high: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: low, max: high })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: Math.min(high - low, 20) })
  return fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([span, every]) => `${span}/${every}`),
    fc.tuple(value, step).map(([first, every]) => `${first}/${every}`),
    step.map((every) => `*/${every}`),
  )
}
