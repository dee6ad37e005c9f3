import { RotaError, type Fault } from '../definition/errors.js'

/**
 * A schema of a payload: any library that implements Standard Schema, such as zod, valibot and
 * arktype. Only the part that Rota uses is declared.
 */
export interface PayloadSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    /** Never set; it only carries the types. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a schema returns: the value, or its faults. */
export type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema accepts. */
export type SchemaInput<Schema extends PayloadSchema> = NonNullable<Schema['~standard']['types']>['input']

/** What a schema returns. */
export type SchemaOutput<Schema extends PayloadSchema> = NonNullable<Schema['~standard']['types']>['output']

/** The schemas of the jobs of an app, by name. */
export function payloadSchemas(): Map<string, PayloadSchema> {
  return new Map()
}

/** Whether a value is a schema. */
export function isPayloadSchema(value: unknown): value is PayloadSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = (value as Partial<PayloadSchema>)['~standard']
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}

/** The payload as its schema returns it, with defaults filled in; throws one error with all faults. */
export async function checkPayload(schema: PayloadSchema, job: string, payload: unknown): Promise<unknown> {
  const answer = await schema['~standard'].validate(payload)
  if (answer.issues === undefined) return answer.value
  const faults = answer.issues.map(faultOf)
  const list = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new RotaError('PAYLOAD_INVALID', `the payload of job ${job} does not fit its schema: ${list}`, {
    faults,
  })
}

function faultOf({ path = [], message }: Issue): Fault {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return { path: ['payload', ...keys].join('.'), message }
}
