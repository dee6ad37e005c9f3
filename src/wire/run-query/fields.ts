/** The part of a URL that selects runs. */
import { z } from 'zod'
import { qualifiers } from './qualifiers.js'
import type { GivenCondition } from './given.js'

const text = z.string().max(1000)
const descriptions = new Map(qualifiers.map(({ name, help }) => [name, `Runs ${help}.`]))
const field = (name: string, note = '') =>
  text.optional().meta({ description: `${descriptions.get(name) ?? ''}${note}` })
const several = ' Several values are separated by commas.'

/** Conditions of runs in a query; `q` is the same as one text. */
export const runConditionFields = {
  q: text.optional().meta({
    description:
      'A filter as one text, such as `state:failed job:mail error:ECONN* label.customer:42 due:today`.',
    example: 'state:failed,cancelled late:>1m',
  }),
  state: field('state', several),
  job: field('job', several),
  trigger: field('trigger', several),
  queue: field('queue'),
  origin: field('origin', several),
  partition: field('partition'),
  label: z
    .union([text.transform((one) => [one]), z.array(text).max(8)])
    .optional()
    .meta({ description: 'Runs with this label, as `name=value`; may be repeated.' }),
  error: field('error'),
  message: field('message'),
  worker: field('worker'),
  due: field('due'),
  since: field('since'),
  until: field('until'),
  late: field('late'),
  zone: z.string().max(100).default('UTC').meta({ description: 'The zone of times without an offset.' }),
}

/** The conditions of such a query, one by one. */
export function givenConditions(query: Readonly<Record<string, unknown>>): readonly GivenCondition[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (name === 'q' || name === 'zone' || !Object.hasOwn(runConditionFields, name)) return []
    const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined)
    return values.map((one) => ({ name, text: String(one), place: `query/${name}` }))
  })
}
