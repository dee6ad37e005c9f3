export { loadPlan } from '../../plan/plan-file.js'
