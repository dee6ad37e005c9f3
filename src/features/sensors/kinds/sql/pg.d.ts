/** As much of the Postgres driver as is used; the package brings no types. */
declare module 'pg' {
  import type { EventEmitter } from 'node:events'

  /** How a connection is made. */
  export interface ClientConfig {
    readonly connectionString: string
    readonly application_name?: string | undefined
    readonly connectionTimeoutMillis?: number | undefined
    readonly keepAlive?: boolean | undefined
    readonly keepAliveInitialDelayMillis?: number | undefined
    /** How long an answer is waited for before the connection is given up. */
    readonly query_timeout?: number | undefined
    /** Whether statements are sent without waiting for the answers to those before them. */
    readonly pipeline?: boolean | undefined
    readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown } | undefined
  }

  /** One statement; `extended` lets it be no more than one. */
  export interface QueryConfig {
    readonly text: string
    readonly values?: readonly unknown[] | undefined
    /** Under which the statement stays prepared on its connection. */
    readonly name?: string | undefined
    /** How long its answer is waited for, where that is not as long as for others. */
    readonly query_timeout?: number | undefined
    readonly rowMode?: 'array' | undefined
    readonly queryMode?: 'extended' | undefined
    readonly types?: { getTypeParser(oid: number): (text: string) => unknown } | undefined
  }

  /** What a statement gave. */
  export interface QueryResult<Row> {
    readonly rows: Row[]
    readonly rowCount: number | null
    /** The first word of the statement: SELECT, INSERT, UPDATE. */
    readonly command: string
    readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
  }

  /** How values are read where a connection says nothing else. */
  export const types: { getTypeParser(oid: number, format?: string): (text: string) => unknown }

  /** One connection. */
  export class Client extends EventEmitter {
    /** What lies below it: its socket. */
    readonly connection: { readonly stream: { destroy(): void } }
    constructor(config: ClientConfig)
    /** The number of the server's process, as the server, or whatever stands before it, has told it. */
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
