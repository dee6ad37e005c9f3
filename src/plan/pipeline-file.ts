import { basename, extname } from 'node:path'
import { readPipeline } from '../model/define-pipeline.js'
import type { Pipeline } from '../model/pipeline.js'
import { MAX_CONFIG_BYTES, readYamlText } from './config-text.js'
import { loadTextFile, type TextFile } from './text-file.js'

/** Reads and checks a pipeline file; throws one error with all its faults. */
export async function loadPipeline(path: string): Promise<Pipeline> {
  const file: TextFile = { path, code: 'PIPELINE_INVALID', maxBytes: MAX_CONFIG_BYTES }
  const name = basename(path, extname(path))
  const { value } = await loadTextFile(file, readYamlText, (written, place) =>
    readPipeline(written, { name }, place),
  )
  return value
}
