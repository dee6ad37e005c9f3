import { readPlan, type Plan } from './definition.js'
import { loadYamlFile } from '../../formats/yaml-file.js'

/** The longest plan that is read, in bytes. */
const MAX_PLAN_BYTES = 8_388_608

/** Reads and checks a plan; throws one error with all its faults. */
export async function loadPlan(path: string): Promise<Plan> {
  return await loadYamlFile({ path, code: 'PLAN_INVALID', maxBytes: MAX_PLAN_BYTES }, readPlan)
}
