/** The open why panel is in the address: `why=nightly@2026-11-17T02:00:00Z..2026-11-17T02:30:00Z`. */
import { changeParams, useParams } from '../../data/location.js'

/** The question: what happened to the due times of a trigger in a period; a single due time if it has no end. */
export interface WhyQuestion {
  readonly trigger: string
  /** ISO text. */
  readonly from: string
  readonly until?: string | undefined
}

/** The question that is open, and how to ask another one or none. */
export function useWhy(): readonly [WhyQuestion | undefined, typeof askWhy] {
  const [params] = useParams()
  return [readWhy(params.get('why')), askWhy]
}

/** Asks a question, or none. */
export function askWhy(question: WhyQuestion | undefined): void {
  changeParams({ why: question === undefined ? null : whyText(question) })
}

/** A question as part of an address. */
export function whyText({ trigger, from, until }: WhyQuestion): string {
  return `${trigger}@${from}${until === undefined || until === from ? '' : `..${until}`}`
}

function readWhy(text: string | null): WhyQuestion | undefined {
  // A name may have an @ of its own; a time has none.
  const [, trigger, from, until] = /^(.+)@([^@]+?)(?:\.\.([^@]+))?$/.exec(text ?? '') ?? []
  if (trigger === undefined || from === undefined) return undefined
  return { trigger, from, until }
}
