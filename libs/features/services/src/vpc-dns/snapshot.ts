import { vpcDnsLabel } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import {
  conditionType,
  isOfKubeOvn,
  switchLbRuleResource,
  usualCorefile,
  vpcDnsResource,
  type Condition,
  type VpcDns,
} from '@kube-ovn/kube-api'
import { configMaps, deployments, type Workload } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import {
  clusterDns,
  isOfVpcDns,
  observedOf,
  storeIndex,
  trimDeployment,
  vpcDnsConfig,
  type ControlWorld,
  type Observed,
  type Watch,
} from '@kube-ovn/domains-control'
import { readConfig, type DnsConfig } from './config.ts'
import { VpcDnsInvalidError, VpcDnsNotServedError, VpcDnsOffError, VpcDnsTakenError } from './errors.ts'
import { isOfUsers, madeName, planOf, type DnsPlan } from './plan.ts'

export const deploymentWatch = { resource: deployments, trim: trimDeployment } satisfies Watch<Workload>

/** Something that was made of a VpcDns. */
export interface Made {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
}

/** What decides about a VpcDns. */
export interface DnsSnapshot {
  readonly name: string
  /** Absent when it is gone, or on its way out. */
  readonly object: VpcDns | undefined
  /** Absent while it can not be as it is written. */
  readonly plan: DnsPlan | undefined
  readonly problem: KubeOvnError | undefined
  readonly made: readonly Made[]
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Reads a VpcDns and what was made of it; nothing when there is neither. */
export function observeDns(name: string, world: ControlWorld): DnsSnapshot | undefined {
  const found = world.vpcDnses.get(name)
  const object = isThere(found) ? found : undefined
  const made = placesOf(name, world).filter(({ object: one }) => one !== undefined && isOurs(one))
  if (object === undefined && made.length === 0) return undefined
  const observed = observedOf(vpcDnsResource, found, world)
  const facts = { name, object, made: made.map(({ place }) => place), observed, now: world.now() }
  if (object === undefined) return { ...facts, plan: undefined, problem: undefined }
  try {
    const plan = planIn(object, world)
    return { ...facts, plan, problem: servedProblem(plan, world) }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, plan: undefined, problem: error }
  }
}

interface Place {
  readonly place: Made
  readonly object: KubeObject | undefined
}

/** What is in the places of all that may be made. */
function placesOf(dns: string, world: ControlWorld): readonly Place[] {
  const name = madeName(dns)
  const { namespace } = world.settings
  const key = `${namespace}/${name}`
  const corefile = { place: { resource: configMaps, namespace, name }, object: world.configMaps.get(key) }
  return [
    ...(isOfUsers(name) ? [] : [corefile]),
    { place: { resource: deployments, namespace, name }, object: world.store(deploymentWatch).get(key) },
    { place: { resource: switchLbRuleResource, name }, object: world.switchLbRules.get(name) },
  ]
}

/** By its owner, which that of the original has none of, or by the label that both have. */
function isOurs({ metadata: { labels, ownerReferences } }: KubeObject): boolean {
  return labels?.[vpcDnsLabel] === 'true' || ownerReferences?.some(isOfVpcDns) === true
}

function isThere(object: KubeObject | undefined): boolean {
  return object !== undefined && object.metadata.deletionTimestamp === undefined
}

/** @throws KubeOvnError that says why nothing can be made of it */
function planIn(dns: VpcDns, world: ControlWorld): DnsPlan {
  if (!world.settings.enableLb) {
    const cure = 'start the controller with --enable-lb: name servers are found by a load balancer'
    throw new VpcDnsOffError({ field: '--enable-lb', value: 'false', cure })
  }
  checkVpc(dns, world)
  const { namespace, defaultSubnet, apiServerAddress } = world.settings
  const config = configIn(world)
  const prefixes = world.prefixes.get(defaultSubnet.name)
  const plan = planOf(dns, config, {
    namespace,
    provider: providerOf(config, world),
    defaultSubnet: prefixes && { name: defaultSubnet.name, gateways: prefixes.gateways },
    corefile: corefileFor(dns, world),
  })
  for (const { place, object } of placesOf(dns.metadata.name, world)) {
    if (object === undefined || isOurs(object)) continue
    const { resource, name } = place
    const cure = `create the VpcDns anew under another name, or delete the ${resource.kind} ${name}, which is another one`
    throw new VpcDnsInvalidError({ field: 'metadata.name', value: dns.metadata.name, cure })
  }
  return plan

  function configIn({ configMaps: all }: ControlWorld): DnsConfig {
    const place = `${namespace}/${vpcDnsConfig}`
    const data = all.get(place)?.data
    if (data === undefined) {
      const cure = `create the ConfigMap ${place} with the keys coredns-vip and nad-name`
      throw new VpcDnsInvalidError({ field: 'data', value: '', cure })
    }
    const image = world
      .store(deploymentWatch)
      .get(clusterDns)
      ?.spec?.template?.spec?.containers?.find((container) => container.name === 'coredns')?.image
    return readConfig(data, { place, image, apiServer: apiServerAddress })
  }
}

/** @throws VpcDnsInvalidError, VpcDnsTakenError */
function checkVpc({ metadata, spec = {} }: VpcDns, world: ControlWorld): void {
  const { vpc = '', subnet = '' } = spec
  if (vpc === '') {
    const cure = 'write the name of the Vpc whose Pods are to be answered'
    throw new VpcDnsInvalidError({ field: 'spec.vpc', value: vpc, cure })
  }
  const [holder] = world.vpcDnses.find(storeIndex.dnsesByVpc, vpc).filter(isThere).sort(byAge)
  if (holder !== undefined && holder.metadata.name !== metadata.name)
    throw new VpcDnsTakenError({ value: vpc, holder: holder.metadata.name })
  if (!isThere(world.vpcs.get(vpc))) {
    const cure = 'create the Vpc, or write one that is there'
    throw new VpcDnsInvalidError({ field: 'spec.vpc', value: vpc, cure })
  }
  if (world.attachments.get(subnet)?.vpc === vpc) return
  const cure = `write a Subnet of the Vpc ${vpc}`
  throw new VpcDnsInvalidError({ field: 'spec.subnet', value: subnet, cure })
}

/** The oldest one first; times are whole seconds, and names decide within one. */
function byAge(one: VpcDns, other: VpcDns): number {
  return rankOf(one) < rankOf(other) ? -1 : 1
}

function rankOf({ metadata: { creationTimestamp = '', name } }: VpcDns): string {
  return `${creationTimestamp} ${name}`
}

/** Of NICs in the network; `undefined` when there is no such network. */
function providerOf({ network }: DnsConfig, world: ControlWorld): string | undefined {
  const definition = world.networkAttachments.get(`default/${network}`)
  if (definition === undefined) return undefined
  return isOfKubeOvn(definition) ? `${network}.default.ovn` : `${network}.default`
}

/** @throws VpcDnsInvalidError when there is no Corefile, or none that a user writes */
function corefileFor(
  { metadata, spec = {} }: VpcDns,
  world: ControlWorld,
): { readonly name: string; readonly makes: boolean } {
  const { corefile = '' } = spec
  const name = corefile === '' ? usualCorefile : corefile
  const place = `${world.settings.namespace}/${name}`
  const found = world.configMaps.get(place)
  if (name === madeName(metadata.name) && !isOfUsers(name)) {
    const cure = `write the name of another ConfigMap: ${name} is one that is made and removed with the VpcDns`
    throw new VpcDnsInvalidError({ field: 'spec.corefile', value: name, cure })
  }
  if (found?.data?.['Corefile'] !== undefined) return { name, makes: false }
  if (found === undefined && name === usualCorefile) return { name: madeName(metadata.name), makes: true }
  const cure = `create the ConfigMap ${place} with a Corefile under the key Corefile, or write one that is there`
  throw new VpcDnsInvalidError({ field: 'spec.corefile', value: name, cure })
}

/** Whether the rule that leads to the name servers does. */
function servedProblem({ name, namespace, vip }: DnsPlan, world: ControlWorld): KubeOvnError | undefined {
  const conditions: readonly Condition[] = world.switchLbRules.get(name)?.status?.conditions ?? []
  const ready = conditions.find(({ type }) => type === conditionType.ready)
  if (ready?.status === 'True') return undefined
  return new VpcDnsNotServedError({ value: vip, rule: name, workload: `${namespace}/${name}` })
}
