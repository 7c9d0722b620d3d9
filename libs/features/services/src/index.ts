export { planOf } from './switch-lb-rule/plan.ts'
export { readConfig as readDnsConfig } from './vpc-dns/config.ts'
export { planOf as dnsPlanOf } from './vpc-dns/plan.ts'
