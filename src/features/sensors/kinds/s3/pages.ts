import type { Instant } from '../../../../time/instant.js'

/** An object of a bucket in a listing. */
export interface S3Object {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly lastModifiedAt: Instant
}

/** One page of a listing, in the order of keys. */
export interface S3Page {
  readonly objects: readonly S3Object[]
  readonly isLast: boolean
  /** The time of the server, if it sent one. */
  readonly at: Instant | undefined
}

/** A bucket, its server and the listed prefix. */
export interface S3Place {
  readonly bucket: string
  readonly prefix: string
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly forcePathStyle: boolean
}

/** The parameters of one request. */
export interface S3Request {
  /** The key after which the page begins. */
  readonly after: string
  readonly pageSize: number
  readonly signal: AbortSignal
}

/** A listing that is read page by page. */
export interface S3Pages {
  /** The page after a key; rejects if the server does not answer, or with a listing that cannot be continued. */
  page(request: S3Request): Promise<S3Page>
  /** Closes the connections; a later request opens them again. */
  close(): Promise<void>
}
