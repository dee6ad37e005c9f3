/** Filters of the timeline as text: `mail job:send queue:reports state:paused mark:failed`. */
import { marks, type Mark } from '../../design/marks.js'

/** Which triggers have a lane, and which of their marks are drawn. */
export interface TimelineFilter {
  readonly trigger: {
    readonly search?: string
    readonly job?: string
    readonly queue?: string
    readonly source?: string
    readonly state: 'active' | 'paused' | 'ended' | 'any'
  }
  /** Marks to draw; undefined: all. */
  readonly marks: ReadonlySet<Mark> | undefined
  /** Words that are not understood. */
  readonly unknown: readonly string[]
}

const states = ['active', 'paused', 'ended', 'any'] as const

/** Reads a filter. A word without a qualifier is searched in the names of triggers. */
export function readFilter(text: string): TimelineFilter {
  let trigger: TimelineFilter['trigger'] = { state: 'active' }
  let wanted: Set<Mark> | undefined
  const words: string[] = []
  const unknown: string[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const [, name, value = ''] = /^(job|queue|source|state|mark):(.+)$/.exec(word) ?? []
    if (name === undefined) words.push(word)
    else if (name === 'state') {
      const state = states.find((one) => one === value)
      if (state === undefined) unknown.push(word)
      else trigger = { ...trigger, state }
    } else if (name === 'mark') {
      const chosen = marksNamed(value)
      if (chosen.length === 0) unknown.push(word)
      else wanted = new Set([...(wanted ?? []), ...chosen])
    } else trigger = { ...trigger, [name]: value }
  }
  if (words.length > 0) trigger = { ...trigger, search: words.join(' ') }
  return { trigger, marks: wanted, unknown }
}

/** `failed`, several with commas, or all but some: `!done`. */
function marksNamed(value: string): readonly Mark[] {
  const all = Object.keys(marks) as Mark[]
  const isNot = value.startsWith('!')
  const names = value.slice(isNot ? 1 : 0).split(',')
  if (names.some((name) => !all.includes(name as Mark))) return []
  return all.filter((mark) => names.includes(mark) !== isNot)
}
