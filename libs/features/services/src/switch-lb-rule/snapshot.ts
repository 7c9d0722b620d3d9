import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { backendsOf } from '@kube-ovn/endpoints'
import { KubeOvnError } from '@kube-ovn/errors'
import { contains, familyOf, formatIp, type Ip } from '@kube-ovn/ip'
import { kindOf, nameOf, type Owner } from '@kube-ovn/ipam'
import { switchLbRuleResource, vipType, type SwitchLbRule } from '@kube-ovn/kube-api'
import type { Endpoints, Service } from '@kube-ovn/kube-api/core'
import { observedOf, type ControlWorld, type Observed } from '@kube-ovn/domains-control'
import { cidrsOf } from '@kube-ovn/domains-control/topology'
import {
  endpointsWatch,
  madeByRule,
  ruleOf,
  serviceProblem,
  serviceVpcs,
  serviceWatch,
  slicesByService,
  sliceWatch,
  takenFrontends,
} from '@kube-ovn/domains-control/services'
import {
  SwitchLbRuleBackendsError,
  SwitchLbRuleInvalidError,
  SwitchLbRuleVipTakenError,
  SwitchLbRuleVipUnansweredError,
} from './errors.ts'
import { planOf, type ServicePlan } from './plan.ts'

/** What decides about a SwitchLBRule. */
export interface RuleSnapshot {
  readonly name: string
  /** Absent when it is gone, or on its way out. */
  readonly object: SwitchLbRule | undefined
  /** Absent while it can not be as it is written. */
  readonly plan: ServicePlan | undefined
  /** What is in the place of the Service and the Endpoints. */
  readonly service: Service | undefined
  readonly endpoints: Endpoints | undefined
  /** Everything that was made of the rule, wherever it is. */
  readonly made: { readonly services: readonly Service[]; readonly endpoints: readonly Endpoints[] }
  readonly problem: KubeOvnError | undefined
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Reads a SwitchLBRule and what was made of it; nothing when there is neither. */
export function observeRule(name: string, world: ControlWorld): RuleSnapshot | undefined {
  const found = world.switchLbRules.get(name)
  const object =
    found?.metadata.deletionTimestamp === undefined && world.settings.enableLb ? found : undefined
  const made = {
    services: world.store(serviceWatch).find(madeByRule, name),
    endpoints: world.store(endpointsWatch).find(madeByRule, name),
  }
  const observed = observedOf(switchLbRuleResource, found, world)
  const facts = { name, object, made, observed, now: world.now() }
  const none = { plan: undefined, service: undefined, endpoints: undefined, problem: undefined }
  if (object === undefined)
    return made.services.length + made.endpoints.length === 0 ? undefined : { ...facts, ...none }
  try {
    const plan = planOf(object)
    const key = `${plan.namespace}/${plan.name}`
    const service = world.store(serviceWatch).get(key)
    checkPlace(plan, service, world)
    const endpoints = world.store(endpointsWatch).get(key)
    return { ...facts, plan, service, endpoints, problem: problemOf(plan, key, world) ?? plan.ineffective }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, ...none, problem: error }
  }
}

/** @throws SwitchLbRuleInvalidError where there can be no Service */
function checkPlace(
  { namespace, name }: ServicePlan,
  service: Service | undefined,
  world: ControlWorld,
): void {
  const field = 'spec.namespace'
  const found = world.namespaces.get(namespace)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    const cure = 'create the namespace, or write one that is there'
    throw new SwitchLbRuleInvalidError({ field, value: namespace, cure })
  }
  if (service === undefined || ruleOf(service) !== undefined) return
  // One that the original made tells no owner.
  if (service.metadata.annotations?.[serviceAnnotations.switchLbVip.key] !== undefined) return
  throw new SwitchLbRuleInvalidError({
    field: 'metadata.name',
    value: name,
    cure: `create the rule anew under another name, or delete the Service ${namespace}/${name}, which is another one`,
  })
}

/** What is not as its user wants it, the worst of it. */
function problemOf(plan: ServicePlan, key: string, world: ControlWorld): KubeOvnError | undefined {
  const service = world.store(serviceWatch).get(key)
  const decided = world.table(serviceVpcs).get(key)
  if (service === undefined || decided === undefined) return undefined
  const taken = world.table(takenFrontends).get(key) ?? []
  const problem = serviceProblem(service, decided, taken)
  // What the Service says of its addresses is about to be written.
  if (problem !== undefined && !(problem instanceof AnnotationInvalidError)) return problem
  return (
    plan.vips.map((ip) => vipProblem(ip, decided.vpc, world)).find((one) => one !== undefined) ??
    plan.ineffective ??
    backendsProblem(plan, key, world)
  )
}

/** An address inside of a subnet has to be found there by who asks for it, and must be nobody's own. */
function vipProblem(ip: Ip, vpc: string, world: ControlWorld): KubeOvnError | undefined {
  const network = world.networks
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
  return kindOf(owner) === 'vip' && world.vips.get(nameOf(owner))?.spec?.type === vipType.switchLb
}

function backendsProblem(plan: ServicePlan, key: string, world: ControlWorld): KubeOvnError | undefined {
  const slices = world.store(sliceWatch).find(slicesByService, key)
  for (const ip of plan.vips) {
    const port = plan.ports.find((one) => backendsOf(slices, one, familyOf(ip)).length === 0)
    if (port === undefined) continue
    const bySelector = plan.selector !== undefined
    return new SwitchLbRuleBackendsError({
      field: bySelector ? 'spec.selector' : 'spec.endpoints',
      value: bySelector
        ? Object.entries(plan.selector)
            .map((term) => term.join(':'))
            .join(',')
        : plan.endpoints.join(','),
      cure:
        `see that there are ${bySelector ? 'ready Pods with these labels' : 'addresses'} for ${formatIp(ip)} ` +
        `port ${port.port}, of its family, in the namespace ${plan.namespace}`,
    })
  }
  return undefined
}
