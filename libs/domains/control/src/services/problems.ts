import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { frontendAnnotation, isOnRouter } from '@kube-ovn/endpoints'
import type { KubeOvnError, Refused } from '@kube-ovn/errors'
import type { Service } from '@kube-ovn/kube-api/core'
import { mostAffinitySeconds, usualAffinitySeconds, writtenAffinity } from './affinity.ts'
import {
  AffinityByNodeError,
  AffinityTooLongError,
  CheckByNodeError,
  CheckInvalidError,
  FrontendTakenError,
  ServiceRouterVipError,
  ServiceSubnetError,
  ServiceVpcError,
  ServiceVpcHalfError,
} from './errors.ts'
import { isForwarded } from './forwarders.ts'
import type { Frontend } from './scopes.ts'
import type { ServiceVpc } from './service-vpcs.ts'
import type { TakenFrontend } from './taken-frontends.ts'

/**
 * Finds what is not as a Service's user wants it, the worst of it.
 *
 * @param frontends under which OVN serves it
 */
export function serviceProblem(
  service: Service,
  decided: ServiceVpc,
  taken: readonly TakenFrontend[],
  frontends: readonly Pick<Frontend, 'scope'>[],
): KubeOvnError | undefined {
  const differs = frontends.some(({ scope }) => scope !== 'all')
  if (decided.isStray) return new ServiceRouterVipError(service.metadata.annotations)
  if (!decided.isServed) return isOnRouter(service) ? undefined : new ServiceVpcError(placeOf(decided))
  return (
    frontendProblem(service, taken) ??
    affinityProblem(service, differs) ??
    checkProblem(service, differs) ??
    halfProblem(service) ??
    subnetProblem(decided)
  )
}

/** Where the VPC is written that does not serve it. */
function placeOf({ by, vpc }: ServiceVpc): Pick<Refused, 'field' | 'value'> {
  const { logicalRouter, vpc: annotation } = serviceAnnotations
  if (by === 'backends') return { field: `${logicalRouter.key} of its Pods`, value: vpc }
  return { field: by === 'logicalRouter' ? logicalRouter.key : annotation.key, value: vpc }
}

function frontendProblem(service: Service, [first]: readonly TakenFrontend[]): KubeOvnError | undefined {
  const annotation = frontendAnnotation(service)
  try {
    annotation?.read(service.metadata.annotations)
  } catch (error) {
    if (error instanceof AnnotationInvalidError) return error
    throw error
  }
  if (first === undefined) return undefined
  const { entry, protocol, holder } = first
  const field = annotation?.key ?? 'status.loadBalancer.ingress'
  return new FrontendTakenError({ field, value: `${entry}/${protocol}`, holder })
}

function affinityProblem(service: Service, differs: boolean): KubeOvnError | undefined {
  const seconds = writtenAffinity(service) ?? usualAffinitySeconds
  // The usual one is also what Kubernetes writes where its user wrote none.
  if (differs && seconds !== usualAffinitySeconds) return new AffinityByNodeError(seconds)
  return seconds > mostAffinitySeconds ? new AffinityTooLongError(seconds) : undefined
}

function checkProblem({ metadata: { annotations } }: Service, differs: boolean): KubeOvnError | undefined {
  const { key, read } = serviceAnnotations.healthCheck
  const value = annotations?.[key]
  const isChecked = read(annotations)
  if (value !== undefined && isChecked === undefined) return new CheckInvalidError({ field: key, value })
  return differs && isChecked === true ? new CheckByNodeError(key) : undefined
}

/**
 * The annotations for a VPC and a Subnet count together only, but for what is made of a RouterLBRule. That for a Subnet is of a Pod where
 * one has the address.
 */
function halfProblem(service: Service): KubeOvnError | undefined {
  if (isOnRouter(service)) return undefined
  const { annotations } = service.metadata
  const { logicalRouter, logicalSwitch } = serviceAnnotations
  const router = logicalRouter.read(annotations) ?? ''
  const subnet = logicalSwitch.read(annotations) ?? ''
  if ((router === '') === (subnet === '') || (router === '' && isForwarded(service))) return undefined
  return router === ''
    ? new ServiceVpcHalfError({ field: logicalSwitch.key, value: subnet, missing: logicalRouter.key })
    : new ServiceVpcHalfError({ field: logicalRouter.key, value: router, missing: logicalSwitch.key })
}

function subnetProblem({ unknownSubnet: value, vpc }: ServiceVpc): KubeOvnError | undefined {
  if (value === undefined) return undefined
  return new ServiceSubnetError({ field: serviceAnnotations.logicalSwitch.key, value, vpc })
}
