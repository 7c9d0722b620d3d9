import { serviceAnnotations } from '@kube-ovn/annotations'
import { chosenFrontends } from '@kube-ovn/endpoints'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { podPortName } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { holderOf } from '../pods/holder.ts'
import { pods, settingsOf, settingsTable } from '../sources.ts'
import type { ControlSettings } from '../settings.ts'
import { nicsOfEndpoint, type PodsView } from './nic-of-endpoint.ts'
import { serviceVpcs } from './service-vpcs.ts'
import { serviceObjects, sliceObjects } from './sources.ts'
import { slicesOf } from './slices.ts'

/** A backend that can be asked whether it is well, from an address of its own subnet. */
export interface CheckedBackend {
  readonly address: string
  /** Name of the port that has it. */
  readonly port: string
  readonly subnet: string
}

/** A Service whose backends are asked whether they are well. */
export interface HealthCheck {
  /** That of its backends: the one that it names, else that of the first. */
  readonly subnet: string
  /** Each address once. */
  readonly backends: readonly CheckedBackend[]
}

const reads = { slices: sliceObjects, pods, serviceVpcs, settingsTable }

/**
 * Services whose backends are to be asked: those with an address of choice, unless they say otherwise, and others that say so.
 *
 * Whether a backend is ready makes no difference: a Pod comes and goes with its endpoint.
 */
export const healthChecks = rowTable({
  name: 'health-checks',
  of: serviceObjects,
  reads,
  row: (service, views, key): HealthCheck | undefined => {
    const decided = views.serviceVpcs.get(key)
    if (!isChecked(service) || decided?.isServed !== true) return undefined
    const slices = slicesOf(key, views.slices)
    const backends = backendsOf(service, slices, settingsOf(views.settingsTable), views)
    const [first] = backends
    if (first === undefined) return undefined
    // Any text may be written: what is no Subnet of the VPC is not passed on.
    const written = decided.unknownSubnet === undefined ? writtenSubnet(service) : undefined
    return { subnet: written ?? first.subnet, backends }
  },
  indexes: {
    subnet: ({ backends }: HealthCheck) => [...new Set(backends.map(({ subnet }) => subnet))],
  },
})

/** The kubelet has asked Pods already: a Service without an address of choice says so if OVN is to ask its backends as well. */
function isChecked(service: Service): boolean {
  const written = serviceAnnotations.healthCheck.read(service.metadata.annotations)
  const chosen = chosenFrontends(service)
  return chosen === undefined ? written === true : chosen.length > 0 && written !== false
}

function writtenSubnet({ metadata: { annotations } }: Service): string | undefined {
  const { logicalRouter, logicalSwitch } = serviceAnnotations
  const subnet = logicalSwitch.read(annotations) ?? ''
  return subnet === '' || (logicalRouter.read(annotations) ?? '') === '' ? undefined : subnet
}

function backendsOf(
  { metadata: { namespace = '' } }: Service,
  slices: readonly EndpointSlice[],
  settings: ControlSettings,
  views: PodsView,
): readonly CheckedBackend[] {
  const backends = new Map<string, CheckedBackend>()
  for (const endpoint of slices.flatMap(({ endpoints }) => endpoints ?? []))
    for (const { address, pod, nic } of nicsOfEndpoint(endpoint, namespace, views)) {
      const subnet = nic.logicalSwitch
      if (subnet === undefined || backends.has(address)) continue
      const holder = holderOf(pod, settings)
      const port = podPortName(holder.namespace, holder.name, nic.provider)
      backends.set(address, { address, port, subnet })
    }
  return [...backends.values()]
}
