import { serviceAnnotations } from '@kube-ovn/annotations'
import { formatIp, type Ip } from '@kube-ovn/ip'
import type { RouterLbRule } from '@kube-ovn/kube-api'
import { copiedAnnotations, servicePlan, type ServicePlan } from '@kube-ovn/domains-control/lb-rules'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'

/**
 * Reads what a RouterLBRule asks for under addresses of its OvnEip.
 *
 * @throws LbRuleInvalidError that names the field
 */
export function routerPlan(rule: RouterLbRule, vips: readonly Ip[]): ServicePlan {
  const { routerLbVip, logicalRouter, logicalSwitch, healthCheck } = serviceAnnotations
  return servicePlan(lbRuleKinds.router, rule, {
    vips,
    annotations: {
      [routerLbVip.key]: vips.map((ip) => formatIp(ip)).join(','),
      [logicalRouter.key]: rule.spec?.vpc ?? '',
      [logicalSwitch.key]: undefined,
      ...copiedAnnotations(rule, [healthCheck]),
    },
  })
}
