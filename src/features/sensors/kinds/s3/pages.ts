import type { Instant } from '../../../../time/instant.js'

/** An object of a bucket, as a listing shows it. */
export interface S3Object {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly lastModifiedAt: Instant
}

/** A part of a listing, in the order of keys. */
export interface S3Page {
  readonly objects: readonly S3Object[]
  readonly isLast: boolean
  /** The bucket's own time, where it said it. */
  readonly at: Instant | undefined
}

/** Where a bucket is, and what of it is listed. */
export interface S3Place {
  readonly bucket: string
  readonly prefix: string
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly forcePathStyle: boolean
}

/** What one request asks for. */
export interface S3Request {
  /** The key after which the page begins. */
  readonly after: string
  readonly pageSize: number
  readonly signal: AbortSignal
}

/** A listing that is read page by page. */
export interface S3Pages {
  /** The page after a key; rejects where the server cannot be asked, or answers what cannot be continued. */
  page(request: S3Request): Promise<S3Page>
  /** Ends the connections; a page that is asked for later opens them again. */
  close(): Promise<void>
}
