import { serviceAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import { contains, formatIp, type Ip } from '@kube-ovn/ip'
import { kindOf, nameOf, type Owner } from '@kube-ovn/ipam'
import { vipType, type SwitchLbRule } from '@kube-ovn/kube-api'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { writtenTypeOfVip } from '@kube-ovn/domains-control/addresses'
import type { RuleSource } from '@kube-ovn/domains-control/lb-rules'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'
import { cidrsOf } from '@kube-ovn/domains-control/topology'
import { SwitchLbRuleVipTakenError, SwitchLbRuleVipUnansweredError } from './errors.ts'
import { planOf } from './plan.ts'

export const source: RuleSource<SwitchLbRule> = {
  kind: lbRuleKinds.switch,
  annotation: serviceAnnotations.switchLbVip,
  needs: 'every family',
  rules: (world) => world.switchLbRules,
  planOf,
  problemOf(plan, _rule, decided, world) {
    if (decided === undefined) return undefined
    return plan.vips.map((ip) => vipProblem(ip, decided.vpc, world)).find((one) => one !== undefined)
  },
}

/** An address inside of a subnet has to be found there by who asks for it, and must be nobody's own. */
function vipProblem(ip: Ip, vpc: string, world: ControlWorld): KubeOvnError | undefined {
  const network = world.layouts
    .find('vpc', vpc)
    .find((one) => one.hasSwitch && cidrsOf(one).some((cidr) => contains(cidr, ip)))
  if (network === undefined) return undefined
  const { name: subnet, gateways } = network
  const value = formatIp(ip)
  if (gateways.v4 === ip || gateways.v6 === ip)
    return new SwitchLbRuleVipTakenError({ value, subnet, holder: 'the gateway' })
  const owners = world.ipam.holders(subnet, ip)
  const other = owners.find((owner) => !answers(owner, world))
  if (other !== undefined)
    return new SwitchLbRuleVipTakenError({ value, subnet, holder: `${kindOf(other)} ${nameOf(other)}` })
  return owners.length > 0 ? undefined : new SwitchLbRuleVipUnansweredError({ value, subnet })
}

function answers(owner: Owner, world: ControlWorld): boolean {
  const vip = kindOf(owner) === 'vip' ? world.vips.get(nameOf(owner)) : undefined
  return vip !== undefined && writtenTypeOfVip(vip) === vipType.switchLb
}
