export { planOf } from './switch-lb-rule/plan.ts'
