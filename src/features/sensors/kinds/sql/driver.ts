import type * as Pg from 'pg'

/** The Postgres driver, loaded on demand; it is an optional peer dependency, so it may be missing. */
export async function loadPg(): Promise<typeof Pg> {
  try {
    return await import('pg')
  } catch (error) {
    throw new Error('Postgres needs the package pg: npm install pg', { cause: error })
  }
}
