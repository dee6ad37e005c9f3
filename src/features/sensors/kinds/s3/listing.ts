import type * as sdk from '@aws-sdk/client-s3'
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
interface S3Request {
  /** The key after which the page begins. */
  readonly after: string
  readonly pageSize: number
  readonly signal: AbortSignal
}

/** What an S3 sensor uses of a listing. */
export type S3Pages = Pick<S3Listing, 'page' | 'close'>

/** The listing of one bucket and prefix. Connections are opened on the first request, and again after `close`. */
export class S3Listing {
  readonly #place: S3Place
  readonly #load: () => Promise<Sdk>
  #opened: Promise<Opened> | undefined

  constructor(place: S3Place, load: () => Promise<Sdk> = () => import('@aws-sdk/client-s3')) {
    this.#place = place
    this.#load = load
  }

  /** The page after a key; rejects if the server does not answer, or with a listing that cannot be continued. */
  async page(request: S3Request): Promise<S3Page> {
    const { client, Command } = await this.#open()
    let token: string | undefined
    for (;;) {
      const { output, at } = await this.#send({ client, Command, request, token })
      token = output.NextContinuationToken
      const objects = objectsOf(output)
      const isLast = output.IsTruncated !== true
      if (!isLast || request.after !== '') assertOrdered([request.after, ...objects.map(({ key }) => key)])
      // A truncated page may be empty; then only its token leads to the next one.
      if (isLast || objects.length > 0) return { objects, isLast, at }
      if (token === undefined)
        throw new Error('the server returned a truncated page without a continuation token')
    }
  }

  /** Closes the connections; a later request opens them again. */
  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.then(
      ({ client }) => client.destroy(),
      () => undefined,
    )
  }

  async #open(): Promise<Opened> {
    this.#opened ??= this.#load().then((loaded) => ({
      client: newClient(loaded, this.#place),
      Command: loaded.ListObjectsV2Command,
    }))
    try {
      return await this.#opened
    } catch (error) {
      this.#opened = undefined
      throw error
    }
  }

  async #send(sent: Opened & { request: S3Request; token: string | undefined }) {
    const { client, Command, request, token } = sent
    const { bucket, prefix } = this.#place
    const command = new Command({
      Bucket: bucket,
      MaxKeys: request.pageSize,
      // XML cannot represent some characters that keys may contain.
      EncodingType: 'url',
      ...(prefix === '' ? {} : { Prefix: prefix }),
      ...(request.after === '' ? {} : { StartAfter: request.after }),
      ...(token === undefined ? {} : { ContinuationToken: token }),
    })
    let at: Instant | undefined
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args)
        at = dateOf(result.response)
        return result
      },
      { step: 'deserialize', name: 'readDate' },
    )
    return { output: await client.send(command, { abortSignal: request.signal }), at }
  }
}

type Sdk = Pick<typeof sdk, 'S3Client' | 'ListObjectsV2Command'>

interface Opened {
  readonly client: sdk.S3Client
  readonly Command: typeof sdk.ListObjectsV2Command
}

function newClient({ S3Client }: Sdk, { endpoint, region, forcePathStyle }: S3Place): sdk.S3Client {
  // Without an endpoint the SDK determines the region, like the credentials.
  const chosen = region ?? (endpoint === undefined ? undefined : 'us-east-1')
  return new S3Client({
    forcePathStyle,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(chosen === undefined ? {} : { region: chosen }),
  })
}

/** If keys are not sorted, continuing after the last one would miss others. */
function assertOrdered(keys: readonly string[]): void {
  for (const [index, key] of keys.entries()) {
    const before = keys[index - 1]
    if (before === undefined || before < key || Buffer.compare(Buffer.from(before), Buffer.from(key)) < 0)
      continue
    const pair = `${JSON.stringify(key)} after ${JSON.stringify(before)}`
    throw new Error(`the server lists ${pair}, so its listing cannot be continued`)
  }
}

function objectsOf(output: sdk.ListObjectsV2CommandOutput): readonly S3Object[] {
  const isEncoded = output.EncodingType === 'url'
  return (output.Contents ?? []).map(({ Key = '', Size = 0, ETag = '', LastModified }) => ({
    key: isEncoded ? decoded(Key) : Key,
    size: Size,
    etag: ETag.replace(/^"|"$/g, ''),
    lastModifiedAt: LastModified?.getTime() ?? 0,
  }))
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    // Some servers claim to encode keys and do not; a literal percent sign shows it.
    return key
  }
}

function dateOf(response: unknown): Instant | undefined {
  const { headers } = response as { headers?: Readonly<Record<string, string>> }
  const at = Date.parse(headers?.['date'] ?? '')
  return Number.isNaN(at) ? undefined : at
}
