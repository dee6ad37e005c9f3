import { readYamlText } from './config-text.js'
import { readPlan, type Plan } from './plan.js'
import { loadTextFile, type TextFile } from './text-file.js'

/** The longest plan that is read, in bytes. */
const MAX_PLAN_BYTES = 8_388_608

/** Reads and checks a plan; throws one error with all its faults. */
export async function loadPlan(path: string): Promise<Plan> {
  const file: TextFile = { path, code: 'PLAN_INVALID', maxBytes: MAX_PLAN_BYTES }
  return (await loadTextFile(file, readYamlText, readPlan)).value
}
