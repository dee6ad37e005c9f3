// How data is divided into partitions, and which partitions need which. Run it with `node examples/partitions/partitions.mjs`.
import {
  byKeys,
  countLabels,
  daily,
  downstreamPartitions,
  hourly,
  labelAt,
  labelsOf,
  monthly,
  sliceOf,
  twoDimensional,
  upstreamPartitions,
} from 'rota'

const timezone = 'America/New_York'
const days = daily({ timezone, start: '2025-01-01' })
const hours = hourly({ timezone })

// The label comes from the due time of a run, in the zone of the data.
const dueAt = new Date('2025-01-15T07:00:00Z')
console.log(labelAt(days, dueAt), labelAt(hours, dueAt), labelAt(daily({ timezone, previous: true }), dueAt))

// A label stands for a time range.
const { fromAt, untilAt } = sliceOf(days, '2025-03-09')
console.log(`the day had ${(untilAt - fromAt) / 3_600_000} hours`)

// A range can be listed one by one, or counted without listing it.
console.log([...labelsOf(monthly(), { from: '2025-11', to: '2026-01' })].join(' '))
console.log(countLabels(hours, { from: '2025-01-01T00:00-05:00', to: '2025-12-31T23:00-05:00' }))

// A day needs its hours: 25 of them when clocks go back.
const report = { downstream: days, upstream: hours }
const needed = upstreamPartitions(report, '2025-11-02')
console.log(needed.labels.length, needed.labels.slice(1, 3).join(' '))
console.log(downstreamPartitions(report, '2025-11-02T01:00-05:00').labels.join(' '))

// Two dimensions are mapped one by one.
const regions = byKeys(['eu', 'us'])
const sales = {
  downstream: twoDimensional(monthly({ timezone }), regions),
  upstream: twoDimensional(days, regions),
}
console.log(upstreamPartitions(sales, '2025-02|eu').labels.at(-1))

// A label that does not exist is refused, with the reason.
for (const label of ['2025-02-30', '2024-12-31']) {
  try {
    sliceOf(days, label)
  } catch (error) {
    console.log(`${error.code}: ${error.message}`)
  }
}
