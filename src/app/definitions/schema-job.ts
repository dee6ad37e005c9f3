import type { RunContext } from '../../engine/worker/perform.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { shown } from '../../kernel/definition/faults.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'
import { isPayloadSchema, type PayloadSchema, type SchemaOutput } from '../../kernel/job/payload-schema.js'

/** A job whose payload a schema checks when a run is enqueued, and types. */
export interface SchemaJob<Schema extends PayloadSchema, Result> extends Omit<JobInput, 'handler'> {
  /** Any Standard Schema, such as one of zod, valibot or arktype. Its output is stored, so it must be JSON. */
  readonly schema: Schema
  readonly handler?: ((run: RunContext<SchemaOutput<Schema>>) => Result) | ModuleInput | undefined
}

/** Separates the schema from the other options of a job. */
export function splitSchema(
  name: string,
  given: JobInput & { readonly schema?: unknown },
): { readonly input: JobInput; readonly schema: PayloadSchema | undefined } {
  if (typeof given !== 'object' || given === null || !('schema' in given)) {
    return { input: given, schema: undefined }
  }
  const { schema, ...input } = given
  if (schema === undefined || isPayloadSchema(schema)) return { input, schema }
  const message = `${shown(schema)} is not a schema`
  const allowed = 'a Standard Schema, such as z.object({ … }) of zod'
  throw new RotaError('DEFINITION_INVALID', `job ${shown(name)} is not valid: schema: ${message}`, {
    faults: [{ path: 'schema', message, allowed }],
  })
}
