import { nodeAnnotations, nodeLabel, podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { serviceL2StatusResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { endpointSlices, nodes, pods, services } from '@kube-ovn/kube-api/core'
import type { Endpoint, EndpointSlice, Node, Pod, Service, ServicePort } from '@kube-ovn/kube-api/core'
import type { ControlCluster, Controller } from '@kube-ovn/testing-control'
import type { Flags } from './steps.it-fixture.ts'

/**
 * Who is led where, said again as a user would say it: from objects alone, without tables, and without the code of what is tested. It looks
 * at each Service from each node.
 */

/** What there is of objects that decide. */
interface Scene {
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  readonly pods: readonly Pod[]
  /** Those that have told what OVN calls them. */
  readonly places: readonly Place[]
  /** Of `namespace/name`, the nodes that announce it. */
  readonly announcers: ReadonlyMap<string, ReadonlySet<string>>
  readonly vpcs: ReadonlySet<string>
  /** By whose load balancers Services are looked at, with their VPCs. */
  readonly switches: ReadonlyMap<string, string>
  /** Addresses in the underlay are served there. */
  readonly isYardLed: boolean
  readonly flags: Flags
}

interface Place {
  readonly node: string
  readonly chassis: string
  readonly zone: string | undefined
  readonly addresses: readonly string[]
}

const defaultVpc = 'ovn-cluster'
const yardAddress = /^172\.19\.0\./

interface Told {
  readonly yard: string
  readonly announcersNamespace: string
  readonly flags: Flags
}

/** Lists what differs between where clients are led and where they should be; one that does not matter to anybody is not among it. */
export async function misled(
  cluster: ControlCluster,
  control: Controller,
  told: Told,
): Promise<readonly string[]> {
  const scene = await readScene(cluster, told)
  const { enableLb } = told.flags
  return [
    ...(enableLb ? astray(scene) : []),
    ...[...scene.switches].flatMap(([of, vpc]) =>
      scene.places.flatMap((place) => {
        const wanted = enableLb ? wantedAt(place, vpc, scene) : new Map<string, string[]>()
        const seen = seenAt(place, of, control)
        return [...new Set([...wanted.keys(), ...seen.keys()])].flatMap((entry) => {
          const claims = wanted.get(entry) ?? ['']
          const found = seen.get(entry) ?? ['']
          // Two Services that want one address: which of them has it is a matter of its own.
          const isRight =
            found.every((one) => claims.includes(one)) && (claims.length > 1 || found.length === 1)
          return isRight
            ? []
            : [`${of} ${place.node} ${entry}: ${found.join(' and ')}, not ${claims.join(' or ')}`]
        })
      }),
    ),
  ]
}

/** Services that are in none of the VPCs in which the Pods behind them are, although nobody has said where they are to be. */
function astray(scene: Scene): readonly string[] {
  const keys = podAnnotations()
  return scene.services.flatMap((service) => {
    const { namespace = '', name, annotations = {} } = service.metadata
    const isSaid = (annotations[serviceAnnotations.logicalRouter.key] ?? '') !== ''
    const hasAddress = (service.spec?.clusterIPs ?? ['None'])[0] !== 'None'
    if (isSaid || !hasAddress) return []
    const addresses = slicesOf(service, scene)
      .flatMap(({ endpoints }) => endpoints ?? [])
      .flatMap((endpoint) => endpoint.addresses)
    const behind = scene.pods.flatMap(({ metadata }) => {
      const own = metadata.annotations?.[keys.ipAddress.key]?.split(',') ?? []
      const isBehind = metadata.namespace === namespace && own.some((address) => addresses.includes(address))
      return isBehind ? (metadata.annotations?.[keys.logicalRouter.key] ?? []) : []
    })
    const vpc = vpcOf(service)
    const isThere = behind.length > 0 && behind.every((one) => scene.vpcs.has(one))
    return isThere && !behind.includes(vpc) ? [`${name} is in ${vpc}, its Pods are in ${behind.join()}`] : []
  })
}

function slicesOf({ metadata: { namespace, name } }: Service, { slices }: Scene): readonly EndpointSlice[] {
  return slices.filter(
    ({ metadata, addressType }) =>
      addressType !== 'FQDN' &&
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name,
  )
}

async function readScene(
  { client }: ControlCluster,
  { yard, announcersNamespace, flags }: Told,
): Promise<Scene> {
  const [allServices, allPods, allSlices, allNodes, statuses, allSubnets, allVpcs] = await Promise.all([
    client.list(services),
    client.list(pods),
    client.list(endpointSlices),
    client.list(nodes),
    client.list(serviceL2StatusResource),
    client.list(subnetResource),
    client.list(vpcResource),
  ])
  const subnetNamed = (name: string) => allSubnets.items.find(({ metadata }) => metadata.name === name)
  const vpcs = new Set([defaultVpc, ...allVpcs.items.map(({ metadata }) => metadata.name)])
  const { enableExternalLBAddress, u2oInterconnection, enableLb } = subnetNamed(yard)?.spec ?? {}
  const announcers = new Map<string, Set<string>>()
  for (const { metadata, status } of statuses.items) {
    const key = `${status?.serviceNamespace}/${status?.serviceName}`
    if (metadata.namespace === announcersNamespace)
      announcers.set(key, (announcers.get(key) ?? new Set()).add(status?.node ?? ''))
  }
  return {
    services: allServices.items,
    slices: allSlices.items,
    pods: allPods.items,
    vpcs,
    places: allNodes.items.flatMap(placeOf),
    announcers,
    switches: new Map(
      ['ovn-default', 'blue', 'rose'].flatMap((name) => {
        const { vpc = defaultVpc, enableLb: isBalanced } = subnetNamed(name)?.spec ?? { enableLb: false }
        return isBalanced !== false && vpcs.has(vpc) ? [[name, vpc] as const] : []
      }),
    ),
    isYardLed: enableExternalLBAddress === true && u2oInterconnection === true && enableLb !== false,
    flags,
  }
}

function placeOf({ metadata: { name, annotations, labels }, status }: Node): readonly Place[] {
  const chassis = annotations?.[nodeAnnotations.chassis.key] ?? ''
  const addresses = (status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' ? [address] : [],
  )
  return chassis === '' ? [] : [{ node: name, chassis, zone: labels?.[nodeLabel.zone], addresses }]
}

/** Which backends clients get: all, those on their node, these if there are any, those that hints say, or none. */
type Scope = 'all' | 'own' | 'own first' | 'near' | 'nobody'

/** By `protocol address:port`, the backends that each Service has there, with how long it keeps clients. */
type Leads = Map<string, string[]>

function add(leads: Leads, entry: string, lead: string): void {
  const all = leads.get(entry) ?? []
  if (!all.includes(lead)) leads.set(entry, [...all, lead])
}

function wantedAt(place: Place, vpc: string, scene: Scene): Leads {
  const leads: Leads = new Map()
  const { loadBalancerLayout, ovnLbNodePorts, enableOvnLbPreferLocal } = scene.flags
  const hasNodePorts = ovnLbNodePorts && loadBalancerLayout === 'per-service'
  for (const service of scene.services) {
    if (vpcOf(service) !== vpc) continue
    const { namespace = '', name, annotations = {} } = service.metadata
    const {
      type,
      ports = [],
      clusterIPs = [],
      internalTrafficPolicy,
      externalTrafficPolicy,
    } = service.spec ?? {}
    const own = slicesOf(service, scene)
    const said = [serviceAnnotations.switchLbVip, serviceAnnotations.routerLbVip]
      .map(({ key }) => annotations[key] ?? '')
      .find((text) => text !== '')
    const hasHints = own.some(({ endpoints }) => endpoints?.some(({ hints }) => hints !== undefined) === true)
    const near = hasHints ? 'near' : 'all'
    const lead = (address: string, port: ServicePort, scope: Scope, door?: number): void => {
      const backends = backendsAt(place, scope, own, port, address.includes(':'))
      const { sessionAffinity, sessionAffinityConfig } = service.spec ?? {}
      // OVN remembers clients only where all nodes have the same address and backends.
      const isRemembered = scope === 'all' && door === undefined
      const isSticky = sessionAffinity === 'ClientIP'
      const time = isRemembered ? ` for ${sessionAffinityConfig?.clientIP?.timeoutSeconds} s` : ' by hash'
      const text = backends.length === 0 ? '' : `${backends.join()}${isSticky ? time : ''}`
      add(leads, `${(port.protocol ?? 'TCP').toLowerCase()} ${endAt(address, door ?? port.port)}`, text)
    }
    for (const port of ports) {
      if (said !== undefined) {
        for (const address of said.split(',')) lead(address, port, 'all')
        continue
      }
      const inside = clusterIPs.filter((address) => address !== 'None' && type !== 'ExternalName')
      for (const address of inside) lead(address, port, internalTrafficPolicy === 'Local' ? 'own' : near)
      // Of one in an attached network a Pod has them.
      if (
        enableOvnLbPreferLocal &&
        type === 'LoadBalancer' &&
        !(serviceAnnotations.attachmentProvider.key in annotations)
      )
        for (const { ip = '', ipMode } of service.status?.loadBalancer?.ingress ?? []) {
          if (ipMode === 'Proxy') continue
          const isLed = scene.isYardLed && yardAddress.test(ip)
          const isLocal = isLed || externalTrafficPolicy === 'Local'
          const announcing = [...(scene.announcers.get(`${namespace}/${name}`) ?? [])].filter((node) =>
            scene.places.some((one) => one.node === node),
          )
          const isAnnounced = isLocal && !isLed && vpc === defaultVpc && announcing.length > 0
          // It has the address there, too.
          const isPassedOn = isAnnounced && !announcing.includes(place.node)
          lead(ip, port, isPassedOn ? 'nobody' : isLocal ? 'own first' : near)
        }
      if (hasNodePorts && vpc === defaultVpc && port.nodePort !== undefined)
        for (const address of place.addresses)
          if (inside.some((other) => other.includes(':') === address.includes(':')))
            lead(address, port, near, port.nodePort)
    }
  }
  return leads
}

/** What the controller has written, or what counts in its place. */
function vpcOf({ metadata: { annotations = {} }, spec }: Service): string {
  const { logicalRouter, logicalSwitch, vpc, routerLbVip } = serviceAnnotations
  const router = annotations[logicalRouter.key] ?? ''
  const isChosen =
    (annotations[logicalSwitch.key] ?? '') !== '' || (annotations[routerLbVip.key] ?? '') !== ''
  if (router !== '' && isChosen) return router
  const written = annotations[vpc.key] ?? ''
  return written === '' || spec === undefined ? defaultVpc : written
}

function endAt(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

interface End {
  readonly text: string
  readonly endpoint: Endpoint
}

function backendsAt(
  { node, zone }: Place,
  scope: Scope,
  slices: readonly EndpointSlice[],
  port: ServicePort,
  isV6: boolean,
): readonly string[] {
  const all: End[] = []
  for (const { endpoints, ports } of slices)
    for (const endpoint of endpoints ?? [])
      for (const address of endpoint.addresses) {
        const to = ports?.find(
          (one) =>
            (one.name ?? '') === (port.name ?? '') && (one.protocol ?? 'TCP') === (port.protocol ?? 'TCP'),
        )?.port
        if (address.includes(':') === isV6 && to !== undefined)
          all.push({ text: endAt(address, to), endpoint })
      }
  const texts = (some: readonly End[]): readonly string[] => [...new Set(some.map(({ text }) => text))].sort()
  const serving = (some: readonly End[]): readonly End[] => {
    const ready = some.filter(({ endpoint: { conditions } }) => conditions?.ready !== false)
    if (ready.length > 0) return ready
    return some.filter(
      ({ endpoint: { conditions } }) => conditions?.serving !== false && conditions?.terminating === true,
    )
  }
  const here = serving(all.filter(({ endpoint }) => endpoint.nodeName === node))
  const anywhere = serving(all)
  if (scope === 'nobody') return []
  if (scope === 'own') return texts(here)
  if (scope === 'own first') return texts(here.length > 0 ? here : anywhere)
  if (scope === 'all') return texts(anywhere)
  for (const [kind, place] of [
    ['forNodes', node],
    ['forZones', zone],
  ] as const) {
    const hintsOf = ({ endpoint: { hints } }: End) => (hints?.[kind] ?? []).map(({ name }) => name)
    const close = anywhere.filter((end) => hintsOf(end).includes(place ?? ''))
    if (close.length > 0 && anywhere.every((end) => hintsOf(end).length > 0)) return texts(close)
  }
  return texts(anywhere)
}

/** What is on a switch for clients on a node, with variables of its chassis in their places. */
function seenAt({ chassis }: Place, of: string, control: Controller): Leads {
  const { northbound } = control.world
  const at = control.named('Logical_Switch', of)
  const groups = (at?.load_balancer_group ?? []).map((uuid) => northbound.get('Load_Balancer_Group', uuid))
  const balancers = [
    ...(at?.load_balancer ?? []),
    ...groups.flatMap((group) => group?.load_balancer ?? []),
  ].flatMap((uuid) => northbound.get('Load_Balancer', uuid) ?? [])
  const [own] = control
    .rows('Chassis_Template_Var', 'chassis', 'variables')
    .filter((row) => row.chassis === chassis)
  const valueOf = (text: string): string | undefined =>
    text.startsWith('^') ? own?.variables[text.slice(1)] : text
  const leads: Leads = new Map()
  for (const { protocol, vips, options, selection_fields: fields } of balancers)
    for (const [key, value] of Object.entries(vips)) {
      const port = key.slice(key.lastIndexOf(':') + 1)
      const address = valueOf(key.startsWith('^') ? key.slice(0, key.lastIndexOf(':')) : key)
      const backends = valueOf(value)
      if (address === undefined || backends === undefined) continue
      const isVariable = key.startsWith('^') || value.startsWith('^')
      const end = key.startsWith('^') ? endAt(address, Number(port)) : key
      const kept =
        fields.length === 0 ? '' : isVariable ? ' by hash' : ` for ${options['affinity_timeout']} s`
      add(leads, `${protocol ?? 'tcp'} ${end}`, `${backends}${kept}`)
    }
  return leads
}
