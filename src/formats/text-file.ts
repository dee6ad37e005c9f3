import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import { readUserFile } from './user-file.js'
import { faultText, RotaError, type ErrorCode, type Fault } from '../kernel/definition/errors.js'
import { placeOf, type Key, type Place, type PlacedFault } from '../kernel/definition/faults.js'
import type { ConfigText, Position } from './config/config-text.js'

/** The largest config or pipeline, in bytes. */
export const MAX_CONFIG_BYTES = 1_048_576

/** A file of definitions: its path, the code of its errors, and its size limit. */
export interface TextFile {
  readonly path: string
  readonly code: Extract<ErrorCode, 'CONFIG_INVALID' | 'PLAN_INVALID' | 'PIPELINE_INVALID'>
  readonly maxBytes: number
}

/** A fault of a file, with its place. */
export interface TextFileFault extends Fault {
  /** Such as `rota.config.yaml:12:5`. */
  readonly where: string
}

/** A file without faults: its value, and where each part of it was written. */
export interface LoadedText<Value> {
  readonly value: Value
  readonly where: (keys: readonly Key[]) => string
}

/** Checks the value of a text file; throws one error with all its faults, in the order of the file. */
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
  const lines = faults.map((fault) => `  ${fault.where}: ${faultText(fault)}`)
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  throw new RotaError(code, `${path} has ${count}`, { faults, lines })
}

/** The error for a file that cannot be read. */
export function unreadableFile({ path, code }: TextFile, why: string, cause?: unknown): RotaError {
  return new RotaError(code, `${path} cannot be read: ${why}`, { cause })
}

/** A fault without its keys. */
export function plain({ path, message, allowed }: Fault | PlacedFault): Fault {
  return { path, message, allowed }
}

/** The text of a file, if it is UTF-8 and not too long. */
export async function textOf(file: TextFile): Promise<string> {
  const found = await readUserFile(file.path, file.maxBytes)
  if (found.kind !== 'read') throw unreadableFile(file, found.why, 'cause' in found ? found.cause : undefined)
  const { bytes } = found
  if (!isUtf8(bytes)) refuseFile(file, [notUtf8(file, bytes)])
  return bytes.toString('utf8').replace(/^\ufeff/, '')
}

/** The first position that is not UTF-8. */
function notUtf8(file: TextFile, bytes: Buffer): TextFileFault {
  const read = Buffer.from(bytes.toString('utf8'))
  // Invalid bytes are replaced by another character, so the first difference is the first invalid byte.
  const at = bytes.findIndex((byte, index) => byte !== read[index])
  const lines = bytes.subarray(0, at).toString('utf8').split('\n')
  const position = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const message = isUtf16 ? 'it is UTF-16, not UTF-8' : `not UTF-8: the byte 0x${bytes[at]?.toString(16)}`
  return { path: '', message, allowed: 'text in UTF-8', where: whereOf(file, position) }
}

function whereOf({ path }: TextFile, { line, column }: Position): string {
  return `${basename(path)}:${line}:${column}`
}
