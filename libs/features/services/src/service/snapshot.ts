import { serviceAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import type { ControlWorld } from '@kube-ovn/domains-control'
import {
  balancerNames,
  mostAffinitySeconds,
  serviceWatch,
  slicesByService,
  sliceWatch,
  writtenAffinity,
} from '@kube-ovn/domains-control/services'
import type { BalancerNames } from '@kube-ovn/domains-control/services'
import { AffinityTooLongError, ServiceVpcError } from './errors.ts'

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
  if (service === undefined || !world.settings.enableLb) return undefined
  const { clusterRouter } = world.settings
  const vpc = serviceAnnotations.vpc.read(service.metadata.annotations) || clusterRouter
  const base = { service, vpc }
  if (vpc !== clusterRouter) {
    const problem = new ServiceVpcError({ field: serviceAnnotations.vpc.key, value: vpc, clusterRouter })
    return { ...base, slices: [], names: undefined, problem }
  }
  return {
    ...base,
    slices: world.store(sliceWatch).find(slicesByService, key),
    names: balancerNames(vpc, world),
    problem: affinityProblem(service),
  }
}

function affinityProblem(service: Service): KubeOvnError | undefined {
  const seconds = writtenAffinity(service) ?? 0
  return seconds > mostAffinitySeconds ? new AffinityTooLongError(seconds) : undefined
}
