import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { root } from './repository.js'

/** The part of a JSON schema that tests use. */
export interface Schema {
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** The schema of a kind of file, as the build wrote it. */
export function builtSchema(name: 'config' | 'plan' | 'pipeline'): Schema {
  return JSON.parse(readFileSync(join(root, 'dist', `rota.${name}.schema.json`), 'utf8')) as Schema
}

/** Whether a value fits a schema. */
export function fits(schema: Schema, value: unknown): boolean {
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value).success
}
