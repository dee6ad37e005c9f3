import type * as Pg from 'pg'
import { RotaError } from '../../../kernel/definition/errors.js'

/** The part of the driver that a store uses. */
export type Driver = typeof Pg

/** Loads the driver when a store is opened: it is an optional peer dependency, so it may be missing. */
export async function loadDriver(url: string): Promise<Driver> {
  try {
    return await import('pg')
  } catch (cause) {
    throw new RotaError('STORE_URL', `${url} needs the package pg: npm install pg`, { cause })
  }
}
