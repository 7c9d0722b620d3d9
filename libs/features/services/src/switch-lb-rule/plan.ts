import { serviceAnnotations } from '@kube-ovn/annotations'
import { formatIp, parseIpList, type Ip } from '@kube-ovn/ip'
import type { SwitchLbRule, SwitchLbRuleSpec } from '@kube-ovn/kube-api'
import {
  checkAddress,
  copiedAnnotations,
  LbRuleInvalidError,
  refusing,
  servicePlan,
  type ServicePlan,
} from '@kube-ovn/domains-control/lb-rules'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'

/**
 * Reads what a SwitchLBRule asks for.
 *
 * @throws LbRuleInvalidError that names the field
 */
export function planOf(rule: SwitchLbRule): ServicePlan {
  const vips = vipsOf(rule.spec ?? {})
  const { switchLbVip, logicalRouter, logicalSwitch, healthCheck } = serviceAnnotations
  const annotations = {
    [switchLbVip.key]: vips.map((ip) => formatIp(ip)).join(','),
    ...copiedAnnotations(rule, [logicalRouter, logicalSwitch, healthCheck]),
  }
  return servicePlan(lbRuleKinds.switch, rule, { vips, annotations })
}

function vipsOf({ vip = '' }: SwitchLbRuleSpec): readonly Ip[] {
  const field = 'spec.vip'
  const { v4, v6 } = refusing(field, vip, () => parseIpList(vip, field))
  const vips = [v4, v6].filter((ip) => ip !== undefined)
  for (const ip of vips) checkAddress(ip, field)
  return vips
}

/** Its addresses, whatever else is written; none when these can not be read. */
export function writtenVips({ spec = {} }: SwitchLbRule): readonly Ip[] {
  try {
    return vipsOf(spec)
  } catch (error) {
    if (error instanceof LbRuleInvalidError) return []
    throw error
  }
}
