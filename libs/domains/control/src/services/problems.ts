import { AnnotationInvalidError, serviceAnnotations } from '@kube-ovn/annotations'
import { frontendAnnotation, isOnRouter } from '@kube-ovn/endpoints'
import type { KubeOvnError, Refused } from '@kube-ovn/errors'
import type { Service } from '@kube-ovn/kube-api/core'
import { mostAffinitySeconds, writtenAffinity } from './affinity.ts'
import {
  AffinityTooLongError,
  FrontendTakenError,
  ServiceRouterVipError,
  ServiceSubnetError,
  ServiceVpcError,
  ServiceVpcHalfError,
} from './errors.ts'
import type { ServiceVpc } from './service-vpcs.ts'
import type { TakenFrontend } from './taken-frontends.ts'

/** Finds what is not as a Service's user wants it, the worst of it. */
export function serviceProblem(
  service: Service,
  decided: ServiceVpc,
  taken: readonly TakenFrontend[],
): KubeOvnError | undefined {
  if (decided.isStray) return new ServiceRouterVipError(service.metadata.annotations)
  if (!decided.isServed) return isOnRouter(service) ? undefined : new ServiceVpcError(placeOf(decided))
  return (
    frontendProblem(service, taken) ??
    affinityProblem(service) ??
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
  if (first === undefined || annotation === undefined) return undefined
  const { entry, protocol, holder } = first
  return new FrontendTakenError({ field: annotation.key, value: `${entry}/${protocol}`, holder })
}

function affinityProblem(service: Service): KubeOvnError | undefined {
  const seconds = writtenAffinity(service) ?? 0
  return seconds > mostAffinitySeconds ? new AffinityTooLongError(seconds) : undefined
}

/** The annotations for a VPC and a Subnet count together only, but for what is made of a RouterLBRule. */
function halfProblem(service: Service): KubeOvnError | undefined {
  if (isOnRouter(service)) return undefined
  const { annotations } = service.metadata
  const { logicalRouter, logicalSwitch } = serviceAnnotations
  const router = logicalRouter.read(annotations) ?? ''
  const subnet = logicalSwitch.read(annotations) ?? ''
  if ((router === '') === (subnet === '')) return undefined
  return router === ''
    ? new ServiceVpcHalfError({ field: logicalSwitch.key, value: subnet, missing: logicalRouter.key })
    : new ServiceVpcHalfError({ field: logicalRouter.key, value: router, missing: logicalSwitch.key })
}

function subnetProblem({ unknownSubnet: value, vpc }: ServiceVpc): KubeOvnError | undefined {
  if (value === undefined) return undefined
  return new ServiceSubnetError({ field: serviceAnnotations.logicalSwitch.key, value, vpc })
}
