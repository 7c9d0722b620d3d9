import { isOvnProvider, primaryProvider } from '@kube-ovn/annotations'
import {
  firstAddress,
  formatIp,
  lastAddress,
  mostEntries,
  networkText,
  tryParseCidr,
  type Cidr,
} from '@kube-ovn/ip'
import { conditionType, isConditionTrue } from '@kube-ovn/kube-api'
import type { Ip, Subnet, SubnetSpec } from '@kube-ovn/kube-api'
import { podPortName, routerPortName } from '@kube-ovn/ovn-names'
import { isGranted } from '../addresses/recorded.ts'
import { publishedNetwork, tryResolve } from '../topology/in-effect.ts'
import { familiesOf } from '../topology/network.ts'
import type { Network } from '../topology/network.ts'
import { allNodeAddresses } from '../topology/node-addresses.ts'
import { findConflict } from '../topology/subnet-conflicts.ts'
import { storeIndex, type ControlWorld } from '../world.ts'

interface Candidate {
  readonly rank: string
  readonly network: Network
  readonly wasInEffect: boolean
}

/**
 * Puts into effect, before anything is decided, the subnets that were in effect when the last process ended.
 *
 * Their status says what they mean, and was written before their rows were. Where it says nothing (upstream wrote it, or it
 * was lost), they are in effect as the Northbound has them. So a restart changes nothing: what was edited meanwhile is
 * judged like an edit of any other time, once it is known who has which address. Of two others that contradict each other
 * the one that was valid wins, then the older one.
 */
export function restoreNetworks(world: ControlWorld): void {
  const addresses = allNodeAddresses(world.nodes.values())
  const candidates = [...world.subnets.values()].flatMap((subnet) => candidatesFor(subnet, world))
  for (const { network, wasInEffect } of candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (world.networks.has(network.name)) continue
    // A node that came later than a subnet ends nothing.
    const nodeAddresses = wasInEffect ? [] : addresses
    if (findConflict(network, [...world.networks.values()], nodeAddresses) !== undefined) continue
    world.networks.set(network.name, network)
    if (!wasInEffect) world.accepted.set(network.name, network)
    world.ipam.setSubnet(network)
  }
}

/** What a subnet may mean: what it was before, or else what it says. */
function candidatesFor(subnet: Subnet, world: ControlWorld): readonly Candidate[] {
  const { name, creationTimestamp = '' } = subnet.metadata
  const candidate = (order: number, network: Network, wasInEffect: boolean): Candidate => ({
    rank: [order, creationTimestamp, name].join(' '),
    network,
    wasInEffect,
  })
  const published = publishedNetwork(subnet, world.settings)
  if (published !== undefined) return [candidate(0, published, true)]
  const specified = resolve(name, subnet.spec ?? {}, world)
  const former = formerNetwork(subnet, world) ?? networkOfRecords(subnet, world)
  const wasValid = isConditionTrue(subnet.status?.conditions, conditionType.validated)
  if (specified === undefined) return former === undefined ? [] : [candidate(1, former, true)]
  if (former === undefined) return [candidate(wasValid ? 2 : 3, specified, false)]
  const isSettled =
    specified.provider === former.provider && routerAddresses(specified) === routerAddresses(former)
  if (isSettled) return [candidate(0, specified, true)]
  return [candidate(1, former, true), candidate(wasValid ? 2 : 3, specified, false)]
}

/**
 * What a subnet without a switch meant that was given to another network since: the provider that NICs with addresses of
 * it are named after. There is no such NIC without a subnet of its provider, so it is this one's if it is no other's.
 */
function networkOfRecords({ metadata: { name }, spec }: Subnet, world: ControlWorld): Network | undefined {
  const records = world.ips.find(storeIndex.ipsBySubnet, name).filter(isGranted)
  const [provider, ...others] = new Set(records.map(providerOfRecord))
  if (provider === undefined || others.length > 0 || isOvnProvider(provider)) return undefined
  const isServed = [...world.subnets.values()].some((subnet) => subnet.spec?.provider === provider)
  return isServed ? undefined : resolve(name, { ...spec, provider }, world)
}

function providerOfRecord({ metadata, spec }: Ip): string {
  const { namespace = '', podName = '' } = spec ?? {}
  return metadata.name.slice(podPortName(namespace, podName).length + 1) || primaryProvider
}

/** Reads from the router's port to a subnet what the subnet meant when the port was written. */
function formerNetwork({ metadata: { name }, spec }: Subnet, world: ControlWorld): Network | undefined {
  const port = routerPortName(world.settings.clusterRouter, name)
  const networks = world.northbound.find('Logical_Router_Port', 'name', port)[0]?.networks ?? []
  const cidrs = networks.flatMap((text) => tryParseCidr(text) ?? [])
  if (cidrs.length === 0) return undefined
  const addressing = {
    cidrBlock: cidrs.map(networkText).join(','),
    gateway: cidrs.map(({ address }) => formatIp(address)).join(','),
    // Only what has a switch has a port to the router.
    provider: isOvnProvider(spec?.provider ?? '') ? (spec?.provider ?? primaryProvider) : primaryProvider,
  }
  const { excludeIps = [] } = spec ?? {}
  // A list that is too long excludes something: no address is drawn before it can be read.
  const instead = excludeIps.length > mostEntries ? cidrs.map(blockText) : []
  return (
    resolve(name, { ...addressing, excludeIps }, world) ??
    resolve(name, { ...addressing, excludeIps: instead }, world)
  )
}

/** All addresses of the prefix, as an entry of `excludeIps`. */
function blockText(cidr: Cidr): string {
  return `${formatIp(firstAddress(cidr))}..${formatIp(lastAddress(cidr))}`
}

function resolve(name: string, spec: SubnetSpec, world: ControlWorld): Network | undefined {
  return tryResolve(name, spec, world.settings)
}

function routerAddresses(network: Network): string {
  return familiesOf(network)
    .map(({ routerAddress }) => routerAddress)
    .join()
}
