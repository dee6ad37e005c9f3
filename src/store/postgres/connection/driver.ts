import type * as Pg from 'pg'
import { RotaError } from '../../../kernel/definition/errors.js'

/** The driver, as far as a store uses it. */
export type Driver = typeof Pg

/** The driver, loaded when a store is opened: it is an optional peer, so that it may be missing. */
export async function loadDriver(url: string): Promise<Driver> {
  try {
    return await import('pg')
  } catch (cause) {
    throw new RotaError('STORE_URL', `${url} needs the package pg: npm install pg`, { cause })
  }
}
