import { serviceAnnotations } from '@kube-ovn/annotations'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { rowTable } from '@kube-ovn/tables'
import type { ControlSettings } from '../settings.ts'
import { pods, settingsOf, settingsTable } from '../sources.ts'
import { networks } from '../topology/subnet-states.ts'
import { isDefaultVpc, vpcClaims } from '../topology/vpc-tenancy.ts'
import { flagsOf } from '../flags.ts'
import { usualAffinitySeconds } from './affinity.ts'
import { balancerFlags } from './balancer-flags.ts'
import { nicsOfEndpoint, type PodsView } from './nic-of-endpoint.ts'
import { allWanted, scopedFrontends } from './scopes.ts'
import { serviceObjects, sliceObjects } from './sources.ts'
import { slicesByService } from './watches.ts'

/** Of which VPC a Service is. */
export interface ServiceVpc {
  readonly vpc: string
  /** It is there and has load balancers. */
  readonly isServed: boolean
  /** What says so: an annotation of the Service, or the Pods behind it; nothing does of a Service of the default VPC. */
  readonly by: 'logicalRouter' | 'backends' | 'vpc' | undefined
  /** The Subnet that it names with the VPC, if there is no such one in it. */
  readonly unknownSubnet: string | undefined
  /** Load balancers that it needs beside those that are always there. */
  readonly balancers: readonly string[]
}

const reads = { slices: sliceObjects, pods, vpcClaims, networks, settingsTable }

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
    const slices = views.slices.find(slicesByService, key)
    const { vpc, by } = chooseVpc(service, slices, views) ?? {
      vpc: settings.clusterRouter,
      by: undefined,
    }
    const isServed = isDefaultVpc(vpc, settings) || views.vpcClaims.get(vpc)?.isExternal === false
    const subnet = serviceAnnotations.logicalSwitch.read(service.metadata.annotations) ?? ''
    const isUnknown = by === 'logicalRouter' && views.networks.get(subnet)?.vpc !== vpc
    return {
      ...{ vpc, isServed, by, unknownSubnet: isUnknown ? subnet : undefined },
      balancers: isServed ? furtherOf(vpc, service, slices, settings) : [],
    }
  },
  indexes: { balancer: ({ balancers }: ServiceVpc) => balancers },
})

function furtherOf(
  vpc: string,
  service: Service,
  slices: readonly EndpointSlice[],
  settings: ControlSettings,
): readonly string[] {
  return allWanted(service, scopedFrontends(service, slices, flagsOf(balancerFlags, settings)))
    .filter(
      ({ affinity, nodes }) =>
        nodes !== undefined || (affinity !== undefined && affinity !== usualAffinitySeconds),
    )
    .map((wanted) => JSON.stringify({ vpc, ...wanted }))
}

/** What a Service, or the Pods behind it, say about its VPC: nothing of one in the default VPC behind which no Pods are. */
export function chooseVpc(
  { metadata: { namespace = '', annotations } }: Service,
  slices: readonly EndpointSlice[],
  views: PodsView,
): Pick<ServiceVpc, 'vpc' | 'by'> | undefined {
  const { vpc, logicalRouter, logicalSwitch } = serviceAnnotations
  const router = logicalRouter.read(annotations) ?? ''
  if (router !== '' && (logicalSwitch.read(annotations) ?? '') !== '')
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
