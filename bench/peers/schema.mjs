// Every workload begins with an empty schema.
import pg from 'pg'

/** Drops a schema with its content. */
export async function withoutSchema(url, schema) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`drop schema if exists ${schema} cascade`)
  await client.end()
}
