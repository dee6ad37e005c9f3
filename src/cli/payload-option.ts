import { resolve } from 'node:path'
import { RotaError } from '../app/errors.js'
import type { Context } from './command.js'
import type { Option } from './syntax.js'

/** What a run is given. */
export const payloadOption: Option = {
  name: 'payload',
  value: 'json',
  help: 'what the run is given: JSON, @file, or - for standard input',
  completes: 'file',
}

/** The payload that was given, read from wherever it is. */
export async function readPayload({ args, directory }: Context): Promise<unknown> {
  const given = args.text(payloadOption.name)
  if (given === undefined) return undefined
  const text = await textOf(given, directory)
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new RotaError('PAYLOAD_INVALID', `--payload is not JSON: ${message}`, { cause: error })
  }
}

async function textOf(given: string, directory: string): Promise<string> {
  if (given === '-') return await textOfStandardInput()
  if (!given.startsWith('@')) return given
  const { readFile } = await import('node:fs/promises')
  return await readFile(resolve(directory, given.slice(1)), 'utf8')
}

/** A payload is bounded anyway, so that more than this need not be read. */
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
  return Buffer.concat(chunks).toString('utf8')
}
