// The JSON schemas of config, plan and pipeline files, generated from the input types and their comments.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API, SignatureKind, SymbolFlags, TypeFlags } from 'typescript/unstable/sync'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The type of the content of each kind of file. */
const types = {
  config: ['src/app/definitions/define-config.ts', 'ConfigOptions'],
  plan: ['src/features/plans/definition.ts', 'PlanFile'],
  pipeline: ['src/kernel/job/define-pipeline.ts', 'PipelineFile'],
}

/** The schemas by the kind of file. */
export function schemas() {
  const api = new API()
  try {
    const project = join(root, 'tsconfig.build.json')
    const { checker, program } = api.updateSnapshot({ openProject: project }).getProject(project)
    // Without a feature there is no schema for its files.
    const present = Object.entries(types).filter(([, [file]]) => existsSync(join(root, file)))
    return Object.fromEntries(
      present.map(([name, [file, type]]) => {
        const symbol = checker.resolveName(type, SymbolFlags.Type, program.getSourceFile(join(root, file)))
        const schema = schemaOf(checker.getDeclaredTypeOfSymbol(symbol), checker)
        return [name, { $schema: draft, title: `Rota ${name}`, ...schema }]
      }),
    )
  } finally {
    api.close()
  }
}

const draft = 'https://json-schema.org/draft/2020-12/schema'

/** The JSON schema of a type; undefined for a type that only code can write, such as a function. */
function schemaOf(type, checker) {
  if (type.isUnionType()) return unionSchema(type.getTypes(), checker)
  if (type.isStringLiteralType()) return { type: 'string', enum: [type.value] }
  if (type.flags & TypeFlags.BooleanLiteral) return { type: 'boolean' }
  if (type.flags & TypeFlags.String) return { type: 'string' }
  if (type.flags & TypeFlags.Number) return { type: 'integer' }
  if (type.flags & TypeFlags.Unknown) return {}
  if (type.flags & (TypeFlags.Undefined | TypeFlags.Never)) return undefined
  if (checker.isArrayType(type)) return arraySchema(checker.getTypeArguments(type), checker)
  const isCode = checker.getSignaturesOfType(type, SignatureKind.Call).length > 0
  return isCode || type.getSymbol()?.name === 'Date' ? undefined : objectSchema(type, checker)
}

function unionSchema(all, checker) {
  // Only any JSON value may be null.
  if (all.some(({ flags }) => flags & TypeFlags.Null)) return {}
  const members = all.map((one) => schemaOf(one, checker)).filter((one) => one !== undefined)
  const words = members.flatMap((one) => one.enum ?? [])
  const open = members.find((one) => one.properties !== undefined && isEmpty(one.additionalProperties))
  // A map with arbitrary keys also accepts the other maps.
  const others = members.filter(
    (one) => one.enum === undefined && (!open || one === open || one.type !== 'object'),
  )
  const different = [...new Map(others.map((one) => [JSON.stringify(one), one])).values()]
  const choices = words.length === 0 ? different : [{ type: 'string', enum: words }, ...different]
  if (choices.length < 2) return choices[0]
  // A number as an alternative to a text is a duration in milliseconds.
  const isDuration = different.some((one) => one.type === 'string')
  const least = isDuration ? { minimum: 0 } : {}
  return { anyOf: choices.map((one) => (one.type === 'integer' ? { ...one, ...least } : one)) }
}

function isEmpty(schema) {
  return typeof schema === 'object' && Object.keys(schema).length === 0
}

function arraySchema([of], checker) {
  const items = schemaOf(of, checker)
  return items === undefined ? undefined : { type: 'array', items }
}

/** A map; if a required property can be written only in code, the map cannot be written at all. */
function objectSchema(type, checker) {
  const properties = {}
  const required = []
  for (const symbol of checker.getPropertiesOfType(type)) {
    const schema = schemaOf(checker.getTypeOfSymbol(symbol), checker)
    const isRequired = !(symbol.flags & SymbolFlags.Optional)
    if (schema === undefined && isRequired) return undefined
    if (schema === undefined) continue
    if (isRequired) required.push(symbol.name)
    const description = checker.getDocumentationCommentOfSymbol(symbol).trim()
    const bounded = withBounds(schema, checker.getJsDocTagsOfSymbol(symbol))
    properties[symbol.name] = description === '' ? bounded : { description, ...bounded }
  }
  const [index] = checker.getIndexInfosOfType(type)
  if (index === undefined) return { type: 'object', properties, required, additionalProperties: false }
  const additionalProperties = schemaOf(index.valueType, checker)
  return additionalProperties && { type: 'object', properties, required, additionalProperties }
}

/** The tags of a comment that are keywords of JSON Schema, and the type of value that each is for. */
const keywords = {
  minimum: 'integer',
  maximum: 'integer',
  minItems: 'array',
  maxItems: 'array',
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
}

/** Adds the bounds in a comment to the matching part of a schema. */
function withBounds(schema, tags) {
  if (schema.anyOf !== undefined) return { anyOf: schema.anyOf.map((one) => withBounds(one, tags)) }
  const own = tags.filter(({ name }) => keywords[name] !== undefined && keywords[name] === schema.type)
  const bounds = own.map(({ name, text }) => [name, name === 'pattern' ? text : Number(text)])
  const isFraction = schema.type === 'integer' && tags.some(({ name }) => name === 'fraction')
  return { ...schema, ...(isFraction ? { type: 'number' } : {}), ...Object.fromEntries(bounds) }
}
