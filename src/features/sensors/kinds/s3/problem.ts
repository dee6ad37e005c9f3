import type { S3Place } from './listing.js'

/** Why a bucket could not be listed: a sentence that says what to do and contains no secret. */
export function s3Problem(error: unknown, place: S3Place): string {
  const { name = '', code = '', message = '', $metadata } = error as SdkError
  const where = `s3://${place.bucket}/${place.prefix}`
  const said = maskS3Secrets(message)
  if (isMissingPackage(error))
    return 'the S3 sensor needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3'
  const status = $metadata?.httpStatusCode
  if (name === 'NoSuchBucket') return `there is no bucket ${place.bucket}`
  if (name === 'CredentialsProviderError' || name === 'CredentialsError')
    return `no credentials were found for ${where}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role`
  if (name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed' || status === 301)
    return `${where} is in another region; set region (${said})`
  if (/Region is missing/.test(message)) return `no region is known for ${where}: set region or AWS_REGION`
  if (status === 401 || status === 403)
    return `${where} cannot be listed: ${name} (${said}); s3:ListBucket is required`
  const network = networkProblem(code !== '' ? code : name, place)
  if (network !== undefined) return network
  return `${where} could not be listed: ${name === 'Error' || name === '' ? said : `${name}: ${said}`}`
}

interface SdkError {
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** Masks everything in a text that could be used to sign a request. */
export function maskS3Secrets(text: string): string {
  return text
    .replace(/(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"']+/gi, '$1***')
    .replace(/((?:Signature|Credential)=)[^,&\s"']+/g, '$1***')
    .replace(/\/\/[^/\s@]+@/g, '//***@')
    .replace(/\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g, '***')
    .slice(0, 300)
}

function isMissingPackage(error: unknown): boolean {
  const { code, message = '' } = error as SdkError
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes('@aws-sdk/client-s3')
}

function networkProblem(code: string, { endpoint }: S3Place): string | undefined {
  const server = endpoint === undefined ? 'the S3 server' : maskS3Secrets(endpoint)
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${server} was not found (${code})`
    case 'ECONNREFUSED':
      return `${server} refused the connection`
    case 'ECONNRESET':
    case 'EPIPE':
      return `${server} broke the connection`
    case 'AbortError':
    case 'TimeoutError':
    case 'ETIMEDOUT':
      return `${server} did not answer in time`
    default:
      return undefined
  }
}
