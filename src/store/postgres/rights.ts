import type { Database } from './connection/database.js'

const RIGHTS = `select current_user as role, quote_ident(current_user) as quoted_role,
    quote_ident($1) as quoted_schema, quote_ident(current_database()) as quoted_database,
    has_database_privilege(current_database(), 'create') as may_create,
    (select pg_get_userbyid(nspowner) from pg_namespace where nspname = $1) as owner,
    (select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = $1) as may_use,
    (select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1) as may_fill`

interface RightsRow {
  readonly role: string
  readonly quoted_role: string
  readonly quoted_schema: string
  readonly quoted_database: string
  readonly may_create: boolean
  readonly owner: string | null
  readonly may_use: boolean | null
  readonly may_fill: boolean | null
}

/** The statement that an administrator must perform so that this role can use the store. */
export async function missingRights(db: Database, schema: string): Promise<string> {
  const rights = (await db.get<RightsRow>(RIGHTS, schema)) as RightsRow
  const { role, quoted_role: to, quoted_schema: quoted } = rights
  const may = (what: string): string => `the role ${role} may not ${what}; an administrator must run:`
  if (rights.owner === null && !rights.may_create) {
    return `${may('create the schema')} create schema ${quoted} authorization ${to}`
  }
  if (rights.owner !== null && !(rights.may_use === true && rights.may_fill === true)) {
    return `${may(`use the schema of ${rights.owner}`)} grant usage, create on schema ${quoted} to ${to}`
  }
  const owner = rights.owner ?? role
  return `${may(`use the tables of ${owner}`)} grant select, insert, update, delete on all tables in schema ${quoted} to ${to}; or connect as ${owner}`
}
