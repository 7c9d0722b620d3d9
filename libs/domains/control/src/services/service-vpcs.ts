import { serviceAnnotations } from '@kube-ovn/annotations'
import { frontendsOf, isOnRouter } from '@kube-ovn/endpoints'
import type { RouterLbRule } from '@kube-ovn/kube-api'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import type { ControlSettings } from '../settings.ts'
import { addressesOfEip } from '../addresses/eip-record.ts'
import { ovnEips, pods, routerLbRules, settingsOf, settingsTable } from '../sources.ts'
import { layouts } from '../topology/layouts.ts'
import { isDefaultVpc, vpcClaims } from '../topology/vpc-tenancy.ts'
import { flagsOf } from '../flags.ts'
import { usualAffinitySeconds } from './affinity.ts'
import { balancerFlags } from './balancer-flags.ts'
import { externalFor, externalPrefixes, type ExternalPrefixes } from './external-prefixes.ts'
import { lbRuleKinds, ruleOf, ruleOfName } from './made-services.ts'
import { nicsOfEndpoint, type PodsView } from './nic-of-endpoint.ts'
import { allWanted, scopedFrontends } from './scopes.ts'
import { nodePortFamilies, protocolsOfNodePorts, wantedForNodePort } from './node-ports.ts'
import { serviceObjects, sliceObjects } from './sources.ts'
import { slicesOf } from './slices.ts'

/** Of which VPC a Service is. */
export interface ServiceVpc {
  readonly vpc: string
  /** It is there and has load balancers, and whoever wants to be reached by way of its router may. */
  readonly isServed: boolean
  /** It wants to be reached by way of a router, and no rule has made it. */
  readonly isStray: boolean
  /** What says so: an annotation of the Service, or the Pods behind it; nothing does of a Service of the default VPC. */
  readonly by: 'logicalRouter' | 'backends' | 'vpc' | undefined
  /** The Subnet that it names with the VPC, if there is no such one in it. */
  readonly unknownSubnet: string | undefined
  /** Load balancers that it needs beside those that are always there. */
  readonly balancers: readonly string[]
}

const reads = {
  ...{ slices: sliceObjects, pods, vpcClaims, layouts, routerLbRules, ovnEips, settingsTable },
  externalPrefixes,
}

interface RuleViews {
  readonly routerLbRules: Pick<ViewOf<typeof routerLbRules>, 'get'>
  readonly ovnEips: Pick<ViewOf<typeof ovnEips>, 'get'>
}

/**
 * The VPC of each Service: the one that it names together with a Subnet, else that of the Pods behind it, else the one of its annotation
 * `vpc`, else the default one.
 *
 * When there are Pods of several VPCs behind it, it stays in the one in which it was.
 */
export const serviceVpcs = rowTable({
  name: 'service-vpcs',
  of: serviceObjects,
  reads,
  row: (service, views, key): ServiceVpc => {
    const settings = settingsOf(views.settingsTable)
    const slices = slicesOf(key, views.slices)
    const { vpc, by } = chooseVpc(service, slices, views) ?? {
      vpc: settings.clusterRouter,
      by: undefined,
    }
    const isThere = isDefaultVpc(vpc, settings) || views.vpcClaims.get(vpc)?.isExternal === false
    const maker = isOnRouter(service)
      ? makerOf(service, { key, router: by === 'logicalRouter' ? vpc : '' }, views)
      : 'rule'
    const isServed = isThere && maker === 'rule'
    const subnet = serviceAnnotations.logicalSwitch.read(service.metadata.annotations) ?? ''
    const isUnknown = by === 'logicalRouter' && !isOnRouter(service) && views.layouts.get(subnet)?.vpc !== vpc
    return {
      ...{ vpc, isServed, isStray: maker === 'nobody', by, unknownSubnet: isUnknown ? subnet : undefined },
      balancers: isServed ? furtherOf(vpc, service, slices, settings, externalFor(service, views)) : [],
    }
  },
  indexes: { balancer: ({ balancers }: ServiceVpc) => balancers },
})

function furtherOf(
  vpc: string,
  service: Service,
  slices: readonly EndpointSlice[],
  settings: ControlSettings,
  external: readonly ExternalPrefixes[],
): readonly string[] {
  const ofPorts = nodePortFamilies(service, vpc, settings).flatMap((family) =>
    protocolsOfNodePorts(service).map((protocol) => wantedForNodePort(service, protocol, family)),
  )
  return [
    ...allWanted(service, scopedFrontends(service, slices, flagsOf(balancerFlags, settings), external)),
    ...ofPorts,
  ]
    .filter(
      ({ affinity, nodes }) =>
        nodes !== undefined || (affinity !== undefined && affinity !== usualAffinitySeconds),
    )
    .map((wanted) => JSON.stringify({ vpc, ...wanted }))
}

/**
 * Who made a Service that wants to be reached by way of a router. A RouterLBRule says in its status which one it made: whoever may write
 * Services of a namespace is not to have addresses of external subnets by that.
 */
function makerOf(
  service: Service,
  { key, router }: { readonly key: string; readonly router: string },
  views: RuleViews,
): 'rule' | 'unclear' | 'nobody' {
  const kind = lbRuleKinds.router
  const name = ruleOfName(kind, service.metadata.name)
  const rule = name === undefined ? undefined : views.routerLbRules.get(name)
  if (rule?.status?.service === key && isAsMade(service, router, rule, views)) return 'rule'
  // It comes, or goes, with the rule.
  return rule !== undefined || ruleOf(kind, service) !== undefined ? 'unclear' : 'nobody'
}

/**
 * Whether a Service is where its rule wants it, under no other addresses. Its namespace's users may edit it, and the rule puts that back,
 * but not while it can not be as it is written, nor where a finalizer holds what the rule has deleted.
 */
function isAsMade(service: Service, router: string, { spec = {} }: RouterLbRule, views: RuleViews): boolean {
  if (service.metadata.deletionTimestamp !== undefined || router === '' || router !== spec.vpc) return false
  const eip = views.ovnEips.get(spec.ovnEip ?? '')
  const { v4, v6 } = (eip && addressesOfEip(eip)?.addresses) ?? {}
  return frontendsOf(service).every((ip) => ip === v4 || ip === v6)
}

/** What a Service, or the Pods behind it, say about its VPC: nothing of one in the default VPC behind which no Pods are. */
export function chooseVpc(
  service: Service,
  slices: readonly EndpointSlice[],
  views: PodsView,
): Pick<ServiceVpc, 'vpc' | 'by'> | undefined {
  const { namespace = '', annotations } = service.metadata
  const { vpc, logicalRouter, logicalSwitch } = serviceAnnotations
  const router = logicalRouter.read(annotations) ?? ''
  if (router !== '' && (isOnRouter(service) || (logicalSwitch.read(annotations) ?? '') !== ''))
    return { vpc: router, by: 'logicalRouter' }
  const written = vpc.read(annotations) ?? ''
  const found = vpcOfBackends(slices, namespace, written, views)
  if (found !== undefined) return { vpc: found, by: 'backends' }
  return written === '' ? undefined : { vpc: written, by: 'vpc' }
}

function vpcOfBackends(
  slices: readonly EndpointSlice[],
  namespace: string,
  written: string,
  views: PodsView,
): string | undefined {
  let first: string | undefined
  for (const endpoint of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
    const vpc = nicsOfEndpoint(endpoint, namespace, views)[0]?.nic.logicalRouter
    if (vpc === written || (vpc !== undefined && written === '')) return vpc
    first ??= vpc
  }
  return first
}
