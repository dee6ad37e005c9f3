/** Whether the text of a header is likely to be a secret. */
export function isSecretHeader(name: string): boolean {
  // A run's idempotency key is not one, although its name says key.
  return name.toLowerCase() !== 'idempotency-key' && secretWords.test(name)
}

const secretWords = /auth|cookie|token|secret|passw|credential|signature|key/i
const shortestSecret = 4

/** Text with the secrets of a request's headers hidden, as an answer may repeat what it was sent. */
export function maskSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((secret) => secret.trim().length >= shortestSecret)
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}
