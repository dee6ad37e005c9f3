import { basename, extname } from 'node:path'
import { readPipeline } from '../kernel/job/define-pipeline.js'
import type { Pipeline } from '../kernel/job/pipeline.js'
import { MAX_CONFIG_BYTES } from './text-file.js'
import { loadYamlFile } from './yaml-file.js'

/** Reads and checks a pipeline file; throws one error with all its faults. */
export async function loadPipeline(path: string): Promise<Pipeline> {
  const name = basename(path, extname(path))
  return await loadYamlFile(
    { path, code: 'PIPELINE_INVALID', maxBytes: MAX_CONFIG_BYTES },
    (written, place) => readPipeline(written, { name }, place),
  )
}
