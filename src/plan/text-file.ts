import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { RotaError, type ErrorCode, type Fault } from '../model/errors.js'
import { placeOf, type Key, type Place, type PlacedFault } from '../model/faults.js'
import type { ConfigText, Position } from './config-text.js'

/** The longest config or pipeline that is read, in bytes. */
export const MAX_CONFIG_BYTES = 1_048_576

/** A file of definitions: where it is, how its refusals are labelled, and how long it may be. */
export interface TextFile {
  readonly path: string
  readonly code: Extract<ErrorCode, 'CONFIG_INVALID' | 'PLAN_INVALID' | 'PIPELINE_INVALID'>
  readonly maxBytes: number
}

/** A fault of a file, with where it was written. */
export interface TextFileFault extends Fault {
  /** Such as `rota.config.yaml:12:5`. */
  readonly where: string
}

/** A file without a fault: what it says, and where each part of it was written. */
export interface LoadedText<Value> {
  readonly value: Value
  readonly where: (keys: readonly Key[]) => string
}

/** Reads a file, parses it and checks what it says; throws one error with all its faults, in the order of the file. */
export async function loadTextFile<Value>(
  file: TextFile,
  parse: (text: string) => ConfigText,
  read: (value: unknown, place: Place) => Value | undefined,
): Promise<LoadedText<Value>> {
  return checkText(file, parse(await textOf(file)), read)
}

/** Checks what the text of a file says; throws one error with all its faults, in the order of the file. */
export function checkText<Value>(
  file: TextFile,
  text: ConfigText,
  read: (value: unknown, place: Place) => Value | undefined,
): LoadedText<Value> {
  const unreadable = text.faults.map((fault) => ({
    fault: { path: '', message: fault.message },
    position: fault,
  }))
  const place = placeOf()
  const value = 'value' in text ? read(text.value, place) : undefined
  const broken = place.faults.map((fault) => ({ fault, position: text.positionOf(fault.keys) }))
  const all = [...unreadable, ...broken].toSorted(
    (a, b) => a.position.line - b.position.line || a.position.column - b.position.column,
  )
  refuseFile(
    file,
    all.map(({ fault, position }) => ({ ...plain(fault), where: whereOf(file, position) })),
  )
  return { value: value as Value, where: (keys) => whereOf(file, text.positionOf(keys)) }
}

/** Throws one error that lists every fault of a file, if there is any. */
export function refuseFile({ path, code }: TextFile, faults: readonly TextFileFault[]): void {
  if (faults.length === 0) return
  const lines = faults.map(({ where, path: keys, message, allowed }) => {
    const what = keys === '' ? message : `${keys}: ${message}`
    return `  ${where}: ${what}${allowed === undefined ? '' : ` (allowed: ${allowed})`}`
  })
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  throw new RotaError(code, `${path} has ${count}:\n${lines.join('\n')}`, { faults })
}

/** The error for a file that gives nothing to check. */
export function unreadableFile({ path, code }: TextFile, why: string, cause?: unknown): RotaError {
  return new RotaError(code, `${path} cannot be read: ${why}`, { cause })
}

/** A fault without the steps that lead to it. */
export function plain({ path, message, allowed }: Fault | PlacedFault): Fault {
  return { path, message, allowed }
}

/** The text of a file, if it is UTF-8 and not too long. */
export async function textOf(file: TextFile): Promise<string> {
  const bytes = await bytesOf(file)
  if (bytes.length > file.maxBytes)
    throw unreadableFile(file, `${bytes.length} bytes, at most ${file.maxBytes}`)
  if (!isUtf8(bytes)) throw unreadableFile(file, 'not UTF-8')
  return bytes.toString('utf8').replace(/^\ufeff/, '')
}

async function bytesOf(file: TextFile): Promise<Buffer> {
  try {
    return await readFile(file.path)
  } catch (error) {
    throw unreadableFile(file, whyUnread(error as NodeJS.ErrnoException), error)
  }
}

function whyUnread({ code = '', message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a directory'
    case 'EACCES':
      return 'this user may not read it'
    default:
      return message
  }
}

function whereOf({ path }: TextFile, { line, column }: Position): string {
  return `${basename(path)}:${line}:${column}`
}
