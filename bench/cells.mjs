// The cells of tables.

/** A target that is better the higher the value is. */
export function atLeast(what, value, must, wish) {
  return {
    what,
    value,
    must: `≥ ${must}`,
    wish: `≥ ${wish}`,
    verdict: verdictOf(value >= must, value >= wish),
  }
}

/** A target that is better the lower the value is. */
export function atMost(what, value, must, wish) {
  return {
    what,
    value,
    must: `≤ ${must}`,
    wish: `≤ ${wish}`,
    verdict: verdictOf(value <= must, value <= wish),
  }
}

function verdictOf(isMet, isWishMet) {
  if (isWishMet) return 'goal met'
  return isMet ? 'met' : 'missed'
}

/** Targets as the rows of a table. */
export function targetRows(targets) {
  const head = ['', 'measured', 'required', 'goal', '']
  return [
    head,
    ...targets.map(({ what, value, must, wish, verdict }) => [what, fixed(value), must, wish, verdict]),
  ]
}

/** A whole number with its thousands set apart. */
export function whole(value) {
  return value === undefined || Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en')
}

/** A number with its significant digits. */
export function fixed(value) {
  if (value === undefined || Number.isNaN(value)) return '-'
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1)
}

/** A ratio. */
export function times(one, other) {
  if (!Number.isFinite(one / other)) return '-'
  return `${fixed(one / other)} x`
}

/** Rows as a table of a page, the first one its head. */
export function toTable([head, ...body]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  const rule = line(head.map((_, column) => (column === 0 ? '---' : '---:')))
  return [line(head), rule, ...body.map(line)].join('\n')
}
