import { isUtf8 } from 'node:buffer'
import { resolve } from 'node:path'
import { RotaError } from '../../kernel/definition/errors.js'
import { exactIntegers, roundedInteger, roundedMessage } from '../../kernel/definition/exact-integer.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'

/** The payload of a run. */
export const payloadOption: Option = {
  name: 'payload',
  value: 'json',
  help: 'the payload of the run: JSON, @file, or - for standard input',
  completes: 'file',
  isContent: true,
}

/** Reads the payload from the option, a file or standard input. */
export async function readPayload({ args, directory }: Surroundings): Promise<unknown> {
  const given = args.text(payloadOption.name)
  if (given === undefined) return undefined
  const text = await textOf(given, directory)
  try {
    const payload: unknown = JSON.parse(text)
    refuseRounded(text)
    return payload
  } catch (error) {
    if (error instanceof RotaError) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new RotaError('PAYLOAD_INVALID', `--payload is not JSON: ${message}`, { cause: error })
  }
}

function refuseRounded(text: string): void {
  const found = roundedInteger(text)
  if (found === undefined) return
  const message = `--payload:${found.line}:${found.column}: ${roundedMessage(found.text)}`
  throw new RotaError('PAYLOAD_INVALID', `${message} (allowed: ${exactIntegers})`)
}

async function textOf(given: string, directory: string): Promise<string> {
  if (given === '-') return await textOfStandardInput()
  if (!given.startsWith('@')) return given
  const path = given.slice(1)
  const { readUserFile } = await import('../../formats/user-file.js')
  const found = await readUserFile(resolve(directory, path), mostBytes)
  if (found.kind === 'read') return asText(found.bytes)
  const code = found.kind === 'too-large' ? 'PAYLOAD_TOO_LARGE' : 'PAYLOAD_INVALID'
  const hint = found.kind === 'refused' ? '; `--payload -` reads standard input' : ''
  throw new RotaError(code, `--payload: ${path} cannot be read: ${found.why}${hint}`)
}

/** No payload is larger than this, so no more is read. */
const mostBytes = 2 ** 20

async function textOfStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes)
      throw new RotaError('PAYLOAD_TOO_LARGE', `--payload is longer than ${mostBytes} bytes`)
  }
  return asText(Buffer.concat(chunks))
}

function asText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new RotaError('PAYLOAD_INVALID', '--payload is not UTF-8')
}
