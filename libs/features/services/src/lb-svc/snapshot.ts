import { deviceAnnotation, serviceAnnotations, type Forwards } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList, type DualStackIp } from '@kube-ovn/ip'
import { conditionType, isOfKubeOvn, vipResource, vipType, type Vip } from '@kube-ovn/kube-api'
import { deployments, type Pod, type Service } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import {
  flagsOf,
  natConfig,
  storeIndex,
  trimDeployment,
  type ControlWorld,
  type Watch,
} from '@kube-ovn/domains-control'
import { addressesOfVip, subnetOfVip } from '@kube-ovn/domains-control/addresses'
import {
  forwarderLabelsOf,
  forwarderName,
  forwarderVipName,
  isForwarded,
  isForwarderVip,
  servicesByVip,
  serviceWatch,
} from '@kube-ovn/domains-control/services'
import type { Workload } from '@kube-ovn/kube-api/core'
import { LbSvcInvalidError, LbSvcNetworkError } from './errors.ts'
import { lbSvcFlags } from './flags.ts'
import {
  chooseSubnet,
  forwardsOf,
  nodeSelectorOf,
  suits,
  wishOf,
  type ServingSubnet,
  type Wish,
} from './plan.ts'

export const deploymentWatch = { resource: deployments, trim: trimDeployment } satisfies Watch<Workload>

/** Something that was made for a Service. */
interface Made {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
}

/** How a Service is served. */
export interface LbSvcPlan {
  /** The Vip that has the addresses. */
  readonly vip: {
    readonly name: string
    /** Absent: it is the user's. */
    readonly made?: { readonly subnet: string; readonly addresses: DualStackIp }
    /** It has other addresses than the Service asks for by now, and is made anew. */
    readonly isOther: boolean
  }
  /** Absent while the Vip has no addresses. */
  readonly workload: WorkloadPlan | undefined
}

/** The Pod that forwards. */
export interface WorkloadPlan {
  readonly network: { readonly namespace: string; readonly name: string; readonly provider: string }
  readonly subnet: string
  readonly podSubnet: string | undefined
  readonly vip: string
  readonly addresses: DualStackIp
  readonly forwards: Forwards
  readonly image: string
  readonly nodeSelector: Readonly<Record<string, string>>
  /** What each Pod in the network takes of its node; empty for none. */
  readonly device: string
}

/** What decides about a Service that asks, or asked, for an address in an attached network. */
export interface LbSvcSnapshot {
  readonly namespace: string
  readonly name: string
  /** Absent when it is gone. */
  readonly service: Service | undefined
  readonly isWanted: boolean
  /** Absent while it can not be as it is written. */
  readonly plan: LbSvcPlan | undefined
  readonly problem: KubeOvnError | undefined
  readonly made: readonly Made[]
  readonly pods: readonly Pod[]
}

/** Reads a Service and what was made for it; nothing when it asks for nothing, and nothing was made. */
export function observeLbSvc(key: string, world: ControlWorld): LbSvcSnapshot | undefined {
  const { enableLbSvc } = flagsOf(lbSvcFlags, world.settings)
  // Without the switch there are no rights either: what was made stays.
  if (!enableLbSvc) return undefined
  const service = world.store(serviceWatch).get(key)
  const isWanted = world.settings.enableLb && service !== undefined && isForwarded(service)
  const [namespace = '', name = ''] = key.split('/')
  const made = placesOf(namespace, name, world).filter(({ isOurs }) => isOurs === true)
  if (!isWanted && made.length === 0) return undefined
  const pods = world.pods.find(storeIndex.podsByForwardedService, key)
  const facts = { namespace, name, service, isWanted, made: made.map(({ place }) => place), pods }
  if (!isWanted) return { ...facts, plan: undefined, problem: undefined }
  try {
    return { ...facts, ...planIn(service, namespace, name, world) }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, plan: undefined, problem: error }
  }
}

interface Place {
  readonly place: Made
  /** Absent: nothing is there. */
  readonly isOurs: boolean | undefined
}

/** What is in the places of all that may be made. */
function placesOf(namespace: string, service: string, world: ControlWorld): readonly Place[] {
  const name = forwarderName(service)
  const vip = forwarderVipName(namespace, service)
  const deployment = world.store(deploymentWatch).get(`${namespace}/${name}`)
  const vipObject = world.vips.get(vip)
  return [
    {
      place: { resource: deployments, namespace, name },
      isOurs: deployment && forwarderLabelsOf(deployment) !== undefined,
    },
    { place: { resource: vipResource, name: vip }, isOurs: vipObject && isForwarderVip(vipObject) },
  ]
}

/** @throws KubeOvnError that says why nothing can be made of it */
function planIn(
  service: Service,
  namespace: string,
  name: string,
  world: ControlWorld,
): Pick<LbSvcSnapshot, 'plan' | 'problem'> {
  const { image } = flagsOf(lbSvcFlags, world.settings)
  if (image === '') {
    const cure = 'start the controller with the image of the node agent'
    throw new LbSvcInvalidError({ field: '--image', value: image, cure })
  }
  const wish = wishOf(service)
  const { provider, device } = networkIn(wish, world)
  checkPodSubnet(wish, world)
  for (const { place, isOurs } of placesOf(namespace, name, world)) {
    if (isOurs !== false || (wish.vip !== undefined && place.resource === vipResource)) continue
    const cure = `create the Service anew under another name, or delete the ${place.resource.kind} ${place.name}, which is another one`
    throw new LbSvcInvalidError({ field: 'metadata.name', value: name, cure })
  }
  const vip = wish.vip ?? forwarderVipName(namespace, name)
  const object = world.vips.get(vip)
  const subnet =
    wish.vip === undefined
      ? chooseSubnet(wish, provider, subnetsOf(provider, world), object && subnetOfVip(object, world))
      : subnetOfUsers(service, vip, object, wish, provider, world)
  const addresses = object === undefined ? undefined : addressesOfVip(object)?.addresses
  const isOther =
    object !== undefined &&
    wish.vip === undefined &&
    (subnetOfVip(object, world) !== subnet.name ||
      (!suits(wish.addresses, addresses ?? {}) && addresses !== undefined))
  const made = wish.vip === undefined ? { made: { subnet: subnet.name, addresses: wish.addresses } } : {}
  const plan = { vip: { name: vip, ...made, isOther }, workload: undefined }
  if (addresses === undefined || isOther) return { plan, problem: object && waitingProblem(object, wish) }
  const workload = {
    network: { ...wish.network, provider },
    ...{ subnet: subnet.name, podSubnet: wish.podSubnet, vip, addresses, image, device },
    forwards: forwardsOf(service, addresses, subnet),
    nodeSelector: nodeSelectorOf(
      world.configMaps.get(`${world.settings.namespace}/${natConfig}`)?.data?.['nodeSelector'] ?? '',
    ),
  }
  return { plan: { ...plan, workload }, problem: undefined }
}

/** @throws LbSvcNetworkError */
function networkIn(
  { network }: Wish,
  world: ControlWorld,
): { readonly provider: string; readonly device: string } {
  const { namespace, name } = network
  const definition = world.networkAttachments.get(`${namespace}/${name}`)
  if (definition === undefined) {
    const { key } = serviceAnnotations.attachmentProvider
    const cure = `create the NetworkAttachmentDefinition ${name} in the namespace ${namespace}, or write one that is there`
    throw new LbSvcNetworkError({ field: key, value: `${name}.${namespace}`, cure })
  }
  const provider = `${name}.${namespace}`
  return {
    provider: isOfKubeOvn(definition) ? `${provider}.ovn` : provider,
    device: deviceAnnotation.read(definition.metadata.annotations) ?? '',
  }
}

/**
 * A Pod that could have no first NIC is not to take the place of one that works.
 *
 * @throws LbSvcInvalidError
 */
function checkPodSubnet({ podSubnet: value }: Wish, world: ControlWorld): void {
  if (value === undefined) return
  const place = world.attachments.get(value)
  if (place?.hasSwitch === true && !place.isJoin) return
  const cure = 'write a Subnet for Pods that is there, or remove it'
  throw new LbSvcInvalidError({ field: serviceAnnotations.logicalSwitch.key, value, cure })
}

/** The Subnets that are in effect for a network. */
function subnetsOf(provider: string, world: ControlWorld): readonly ServingSubnet[] {
  return world.subnetProviders.keys('provider', provider).flatMap((name) => {
    const prefixes = world.prefixes.get(name)
    return prefixes === undefined ? [] : [{ name, ...prefixes }]
  })
}

/** The Subnet of a Vip that a user names. @throws LbSvcInvalidError */
function subnetOfUsers(
  service: Service,
  name: string,
  vip: Vip | undefined,
  wish: Wish,
  provider: string,
  world: ControlWorld,
): ServingSubnet {
  const refuse = (cure: string): LbSvcInvalidError =>
    new LbSvcInvalidError({ field: serviceAnnotations.attachmentVip.key, value: name, cure })
  if (vip === undefined || vip.metadata.deletionTimestamp !== undefined)
    throw refuse('create the Vip, or write one that is there')
  if ((vip.status?.type ?? vip.spec?.type ?? '') !== vipType.plain) throw refuse('write a Vip without a type')
  const subnet = subnetsOf(provider, world).find((one) => one.name === subnetOfVip(vip, world))
  if (subnet === undefined || (wish.subnet !== undefined && wish.subnet !== subnet.name))
    throw refuse(
      `write a Vip of ${wish.subnet === undefined ? `a Subnet with the provider ${provider}` : `Subnet ${wish.subnet}`}`,
    )
  const had = addressesOfVip(vip)?.addresses
  if (had !== undefined && !suits(wish.addresses, had))
    throw refuse(
      `write a Vip with the address ${formatIpList(wish.addresses)}, or remove spec.loadBalancerIP`,
    )
  const holder = had && holderOf(name, service, had, world)
  if (holder !== undefined)
    throw refuse(`write another Vip, or remove it from the Service ${holder}, which has its address`)
  return subnet
}

/** Another Service that names the Vip and is reached at its address; one that is reached there itself has it. */
function holderOf(vip: string, service: Service, had: DualStackIp, world: ControlWorld): string | undefined {
  const texts = formatIpList(had).split(',')
  const isReached = ({ status }: Service): boolean =>
    status?.loadBalancer?.ingress?.some(({ ip = '' }) => texts.includes(ip)) === true
  if (isReached(service)) return undefined
  const holder = world.store(serviceWatch).find(servicesByVip, vip).find(isReached)
  return holder && `${holder.metadata.namespace ?? ''}/${holder.metadata.name}`
}

/** Why the Vip has no addresses, if anything is wrong with it. */
function waitingProblem({ metadata, status }: Vip, { addresses }: Wish): KubeOvnError | undefined {
  const ready = status?.conditions?.find(({ type }) => type === conditionType.ready)
  if (ready?.status !== 'False') return undefined
  const cure = `see the condition Ready of Vip ${metadata.name}: ${ready.message ?? ''}`
  return new LbSvcInvalidError({ field: 'spec.loadBalancerIP', value: formatIpList(addresses), cure })
}
