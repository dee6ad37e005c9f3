/** The types of the client's operations, as TypeScript, generated from the OpenAPI document. */
export function operationsText(document, title) {
  const { schemas } = document.components
  const types = Object.entries(schemas).map(
    ([name, schema]) =>
      `/** ${schema.description ?? `The schema ${name} of the API.`} */\nexport type ${name} = ${typeOf(schema)}\n`,
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`
      const answer = Object.entries(operation.responses).find(([status]) => status !== 'default')[1]
      return [
        `  /** ${operation.summary} */`,
        `  readonly '${name}': {`,
        `    readonly request: ${requestOf(operation)}`,
        `    readonly answer: ${typeOf(answer.content['application/json'].schema)}`,
        '  }',
      ].join('\n')
    }),
  )
  return `${header}\n${types.join('\n')}\n/** Every operation with its request and its answer. */\nexport interface ${title} {\n${operations.join('\n')}\n}\n`
}

const header = '// Made by `npm run docs:api` from the routes; do not edit.\n'

function requestOf({ parameters, requestBody }) {
  const of = (place) => parameters.filter((one) => one.in === place)
  const fields = []
  for (const [key, place] of [
    ['path', 'path'],
    ['query', 'query'],
  ]) {
    const list = of(place)
    if (list.length === 0) continue
    const isNeeded = list.some(({ required }) => required)
    const members = list.map(
      ({ name, required, schema }) => `readonly ${name}${required ? '' : '?'}: ${typeOf(schema)}`,
    )
    fields.push(`readonly ${key}${isNeeded ? '' : '?'}: { ${members.join('; ')} }`)
  }
  if (requestBody !== undefined) {
    const { schema } = requestBody.content['application/json']
    const isNeeded = (schema.required ?? []).length > 0
    fields.push(`readonly body${isNeeded ? '' : '?'}: ${typeOf(schema)}`)
  }
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`
}

function typeOf(schema) {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return [...new Set(union.map(typeOf))].join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'array') return `readonly (${typeOf(schema.items ?? {})})[]`
  if (schema.type === 'object') return objectType(schema)
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[
      schema.type
    ] ?? 'unknown'
  )
}

function objectType({ properties = {}, required = [], additionalProperties }) {
  const members = Object.entries(properties).map(
    ([key, value]) =>
      `readonly ${/^\w+$/.test(key) ? key : JSON.stringify(key)}${required.includes(key) ? '' : '?'}: ${typeOf(value)}`,
  )
  const isOpen = typeof additionalProperties === 'object' || additionalProperties === true
  if (members.length > 0 && isOpen) members.push('readonly [other: string]: unknown')
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  return `Readonly<Record<string, ${others}>>`
}
