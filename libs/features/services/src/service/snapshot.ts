import { serviceAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError, Refused } from '@kube-ovn/errors'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import type { ControlWorld } from '@kube-ovn/domains-control'
import {
  balancerNames,
  mostAffinitySeconds,
  serviceVpcs,
  serviceWatch,
  slicesByService,
  sliceWatch,
  writtenAffinity,
} from '@kube-ovn/domains-control/services'
import type { BalancerNames, ServiceVpc } from '@kube-ovn/domains-control/services'
import { AffinityTooLongError, ServiceVpcError, ServiceVpcHalfError } from './errors.ts'

/** What decides about a Service. */
export interface ServiceSnapshot {
  readonly service: Service
  readonly slices: readonly EndpointSlice[]
  readonly vpc: string
  /** Absent when the VPC serves no Services. */
  readonly names: BalancerNames | undefined
  /** What is not as its user wants it. */
  readonly problem: KubeOvnError | undefined
}

/** Reads a Service and its slices; nothing when OVN serves none. */
export function observeService(key: string, world: ControlWorld): ServiceSnapshot | undefined {
  const service = world.store(serviceWatch).get(key)
  const decided = world.table(serviceVpcs).get(key)
  if (service === undefined || decided === undefined || !world.settings.enableLb) return undefined
  const { vpc, isServed } = decided
  if (!isServed)
    return { service, vpc, slices: [], names: undefined, problem: new ServiceVpcError(placeOf(decided)) }
  return {
    service,
    vpc,
    slices: world.store(sliceWatch).find(slicesByService, key),
    names: balancerNames(vpc, world),
    problem: affinityProblem(service) ?? halfProblem(service),
  }
}

/** Where the VPC is written that does not serve it. */
function placeOf({ by, vpc }: ServiceVpc): Pick<Refused, 'field' | 'value'> {
  const { logicalRouter, vpc: annotation } = serviceAnnotations
  if (by === 'backends') return { field: `${logicalRouter.key} of its Pods`, value: vpc }
  return { field: by === 'logicalRouter' ? logicalRouter.key : annotation.key, value: vpc }
}

function affinityProblem(service: Service): KubeOvnError | undefined {
  const seconds = writtenAffinity(service) ?? 0
  return seconds > mostAffinitySeconds ? new AffinityTooLongError(seconds) : undefined
}

/** The annotations for a VPC and a Subnet count together only. */
function halfProblem({ metadata: { annotations } }: Service): KubeOvnError | undefined {
  const { logicalRouter, logicalSwitch } = serviceAnnotations
  const router = logicalRouter.read(annotations) ?? ''
  const subnet = logicalSwitch.read(annotations) ?? ''
  if ((router === '') === (subnet === '')) return undefined
  return router === ''
    ? new ServiceVpcHalfError({ field: logicalSwitch.key, value: subnet, missing: logicalRouter.key })
    : new ServiceVpcHalfError({ field: logicalRouter.key, value: router, missing: logicalSwitch.key })
}
