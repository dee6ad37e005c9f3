import type * as Pg from 'pg'

/** The Postgres driver, loaded when it is needed; it is an optional peer, so that it may be missing. */
export async function loadPg(): Promise<typeof Pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('Postgres needs the package pg: npm install pg', { cause: error })
  }
}
