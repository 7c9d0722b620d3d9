import type { ObjectChange } from '@kube-ovn/kube'
import { serviceL2StatusResource, type ServiceL2Status } from '@kube-ovn/kube-api'
import type { Watch } from '../declarations.ts'
import { flagsOf } from '../flags.ts'
import { present } from '../trim.ts'
import type { ControlWorld } from '../world.ts'
import { balancerFlags } from './balancer-flags.ts'

/** Announcements by the `namespace/name` of the Service that they are of. */
const byService = 'service'

/** The node whose speaker has a status. */
const writerLabel = 'metallb.io/node'

export const announcementWatch = {
  resource: serviceL2StatusResource,
  mayBeAbsent: true,
  trim: trimStatus,
  indexes: { [byService]: announcedBy },
} satisfies Watch<ServiceL2Status>

/** The Service that an announcement is of; none if it does not say. */
function announcedBy({ status }: ServiceL2Status): readonly string[] {
  const { serviceNamespace = '', serviceName = '' } = status ?? {}
  return serviceNamespace === '' || serviceName === '' ? [] : [`${serviceNamespace}/${serviceName}`]
}

function trimStatus({ metadata, status = {} }: ServiceL2Status): ServiceL2Status {
  const { name, namespace, uid, resourceVersion } = metadata
  const { node, serviceNamespace, serviceName } = status
  const writer = metadata.labels?.[writerLabel]
  const labels = writer === undefined ? undefined : { [writerLabel]: writer }
  return {
    metadata: present({ name, namespace, uid, resourceVersion, labels }),
    status: present({ node, serviceNamespace, serviceName }),
  }
}

/** The Services that a change of announcements is about. */
export function announcedIn({ old, new: current }: ObjectChange<ServiceL2Status>): ReadonlySet<string> {
  return new Set([old, current].flatMap((one) => (one === undefined ? [] : announcedBy(one))))
}

/**
 * The nodes that answer on their links for addresses of a Service; none while nobody says so who may: those who write elsewhere than in the
 * namespace of MetalLB speak for no Services.
 *
 * Each address has one, which of them is not told: two nodes are those of two addresses, or one takes over from the other.
 */
export function announcersOf(
  service: string,
  world: Pick<ControlWorld, 'store' | 'settings'>,
): ReadonlySet<string> {
  const { metallbNamespace } = flagsOf(balancerFlags, world.settings)
  const announcements = world
    .store(announcementWatch)
    .find(byService, service)
    .filter(({ metadata }) => metadata.namespace === metallbNamespace)
  return new Set(announcements.map(announcerIn).filter((node) => node !== ''))
}

/**
 * A speaker that takes over the status of another one labels it, and can not write its own name into it: MetalLB's definition lets
 * `status.node` never become another one.
 */
function announcerIn({ metadata, status }: ServiceL2Status): string {
  return metadata.labels?.[writerLabel] ?? status?.node ?? ''
}
