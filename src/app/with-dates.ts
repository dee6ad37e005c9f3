import { dated, type Dated } from '../time/dated.js'

/** An object of the app as a program sees it: its methods return Dates for instants. */
export type Bordered<Api> = {
  readonly [Key in keyof Api]: Api[Key] extends (...given: never[]) => unknown
    ? WithDates<Api[Key]>
    : Api[Key] extends object
      ? Bordered<Api[Key]>
      : Api[Key]
}

/** A method whose result has no instants stays unchanged, with its type parameters. */
type WithDates<Method> = Method extends (...given: infer Given) => Promise<infer Answer>
  ? [Answer] extends [Dated<Answer>]
    ? Method
    : (...given: Given) => Promise<Dated<Answer>>
  : Method

/** Wraps an object of the app, and the objects in it, so that methods return Dates. */
export function bordered<Api extends object>(api: Api): Bordered<Api> {
  const outside: object = Object.create(outsidePrototype)
  const prototype: object = Object.getPrototypeOf(api)
  for (const source of prototype === Object.prototype ? [api] : [prototype, api]) {
    for (const [key, inside] of Object.entries(Object.getOwnPropertyDescriptors(source))) {
      if (key === 'constructor') continue
      const property =
        inside.get === undefined
          ? { value: borderedMember(api, inside.value), writable: true }
          : { get: (): unknown => Reflect.get(api, key) }
      Object.defineProperty(outside, key, { ...property, enumerable: true })
    }
  }
  return outside as Bordered<Api>
}

/** Distinguishes an app from a plain object: a file may export an app or a config. */
const outsidePrototype = { [Symbol.toStringTag]: 'Rota' }

function borderedMember(api: object, member: unknown): unknown {
  if (typeof member === 'object' && member !== null) return bordered(member)
  if (typeof member !== 'function') return member
  return (...given: unknown[]): unknown => {
    const answer: unknown = member.apply(api, given)
    return answer instanceof Promise ? answer.then(dated) : answer
  }
}
