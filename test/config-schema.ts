import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ZodObject, ZodType } from 'zod'
import { configShape } from '../src/formats/config/config-shape.js'
import { root } from './repository.js'

/** The shape of a config with the sections of all features, as the build puts it together. */
export async function wholeConfigShape(): Promise<ZodType> {
  const folder = join(root, 'src', 'features')
  const files = readdirSync(folder).map((feature) => join(folder, feature, 'config-shape.ts'))
  const shapes = await Promise.all(
    files
      .filter((file) => existsSync(file))
      .map((file) => import(file) as Promise<{ sectionShapes: Record<string, ZodType> }>),
  )
  return shapes.reduce((whole, { sectionShapes }) => whole.extend(sectionShapes), configShape as ZodObject)
}
