/** The OpenAPI 3.1 document of the routes. It is built once, committed, and compared in the tests. */
import { z } from 'zod'
import type { Route, Shape } from '../wire/route.js'
import { apiPath } from './handler.js'

type Schema = Readonly<Record<string, unknown>>

/** Builds the document of the public routes. */
export function openApiDocument(routes: readonly Route[], version: string): Schema {
  const schemas = new Map<string, Schema>([['Problem', problemSchema]])
  const shared = routes.filter((route) => route.isPrivate !== true)
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of shared) {
    const operations = (paths[`${apiPath}${route.path}`] ??= {})
    operations[route.method.toLowerCase()] = operationOf(route, schemas)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Rota', version, description: 'Every instant is ISO text in UTC.' },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'rota_session' },
      },
      schemas: Object.fromEntries([...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    },
  }
}

function operationOf(route: Route, schemas: Map<string, Schema>): Schema {
  const { method, path, summary, about, group, role, parts, query, body, answer, status = 200 } = route
  const words = path.replaceAll(/[{}]/g, '').split('/').filter(Boolean)
  return {
    operationId: [method.toLowerCase(), ...words].join('_'),
    summary,
    description: [about, `Needs the role ${role}.`].filter(Boolean).join(' '),
    tags: [group],
    parameters: [...parametersOf(parts, 'path', schemas), ...parametersOf(query, 'query', schemas)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: jsonContent(schemaOf(body, 'input', schemas), route.example?.body),
          },
        }),
    responses: {
      [status]: { description: 'Success.', content: jsonContent(schemaOf(answer, 'output', schemas)) },
      default: {
        description: 'The request failed; `code` is the reason, `todo` is what to do.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function parametersOf(shape: Shape | undefined, place: 'path' | 'query', schemas: Map<string, Schema>) {
  if (shape === undefined) return []
  const { properties = {}, required = [] } = schemaOf(shape, 'input', schemas) as {
    properties?: Record<string, Schema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([key, { description, ...schema }]) => ({
    name: key,
    in: place,
    required: required.includes(key),
    ...(description === undefined ? {} : { description }),
    schema,
  }))
}

function jsonContent(schema: Schema, example?: unknown): Schema {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
}

/** Converts a schema to JSON Schema; schemas with an id become components. */
function schemaOf(type: z.ZodType, io: 'input' | 'output', schemas: Map<string, Schema>): Schema {
  const { $defs = {}, ...schema } = z.toJSONSchema(type, { io, unrepresentable: 'any' })
  delete schema.$schema
  const named = JSON.parse(
    JSON.stringify({ schema, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as { schema: Schema; $defs: Record<string, Schema> }
  for (const [id, definition] of Object.entries(named.$defs)) schemas.set(id, withoutId(definition))
  const { id } = named.schema as { id?: string }
  if (id === undefined) return named.schema
  schemas.set(id, withoutId(named.schema))
  return { $ref: `#/components/schemas/${id}` }
}

function withoutId(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'id'))
}

const problemSchema: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'todo', 'errors'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    todo: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
    changed: {
      type: 'array',
      description: 'What was changed although the request is refused (ANSWER_LOST).',
      items: {
        type: 'object',
        required: ['action', 'target', 'subjects'],
        properties: {
          action: { type: 'string' },
          target: { type: 'string' },
          subjects: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
}
