/** The used part of the Postgres driver, which has no types. */
declare module 'pg' {
  import type { EventEmitter } from 'node:events'

  /** The options of a connection. */
  export interface ClientConfig {
    readonly connectionString: string
    readonly application_name?: string | undefined
    readonly connectionTimeoutMillis?: number | undefined
    readonly keepAlive?: boolean | undefined
    readonly keepAliveInitialDelayMillis?: number | undefined
    /** The time limit of an answer, after which the connection is dropped. */
    readonly query_timeout?: number | undefined
    /** Whether statements are sent without waiting for earlier answers. */
    readonly pipeline?: boolean | undefined
    readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown } | undefined
  }

  /** One statement; with `extended` it cannot be several. */
  export interface QueryConfig {
    readonly text: string
    readonly values?: readonly unknown[] | undefined
    /** The name of the prepared statement on its connection. */
    readonly name?: string | undefined
    /** The time limit of its answer, if it differs from that of the connection. */
    readonly query_timeout?: number | undefined
    readonly rowMode?: 'array' | undefined
    readonly queryMode?: 'extended' | undefined
    readonly types?: { getTypeParser(oid: number): (text: string) => unknown } | undefined
  }

  /** The result of a statement. */
  export interface QueryResult<Row> {
    readonly rows: Row[]
    readonly rowCount: number | null
    /** The first word of the statement: SELECT, INSERT, UPDATE. */
    readonly command: string
    readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
  }

  /** The default parsers of values. */
  export const types: { getTypeParser(oid: number, format?: string): (text: string) => unknown }

  /** One connection. */
  export class Client extends EventEmitter {
    /** The underlying connection with its socket. */
    readonly connection: { readonly stream: { destroy(): void } }
    constructor(config: ClientConfig)
    /** The process id of the server, as reported by the server or a pooler. */
    readonly processID: number | null
    connect(): Promise<void>
    query<Row = Record<string, unknown>>(
      query: string | QueryConfig,
      values?: readonly unknown[],
    ): Promise<QueryResult<Row>>
    end(): Promise<void>
    unref(): void
    escapeIdentifier(name: string): string
  }
}
