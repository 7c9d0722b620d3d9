import { isOvnProvider, primaryProvider } from '@kube-ovn/annotations'
import {
  firstAddress,
  formatIp,
  lastAddress,
  mostEntries,
  networkText,
  tryParseCidr,
  tryParseIp,
  type Cidr,
} from '@kube-ovn/ip'
import { conditionType, isConditionTrue, vpcNamed } from '@kube-ovn/kube-api'
import type { Ip, Subnet, SubnetSpec, SubnetStatus } from '@kube-ovn/kube-api'
import { podPortProvider, routerPortName } from '@kube-ovn/ovn-names'
import { factTable } from '@kube-ovn/reconcile'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { isGranted } from '../addresses/recorded.ts'
import type { ControlSettings } from '../settings.ts'
import { ips, routerPorts, settingsOf, settingsTable, subnets } from '../sources.ts'
import { acceptances, type DecidedAcceptance } from './acceptance.ts'
import { builtInSpec, withSecondFamily } from './built-in.ts'
import { isSubnetError, SubnetInvalidError, type SubnetError } from './errors.ts'
import { publishedNetwork, tryResolve } from './in-effect.ts'
import { localnets } from './localnets.ts'
import { familiesOf, type Network } from './network.ts'
import { resolveSubnet, type ResolvedSubnet } from './subnet-spec.ts'
import { vlanStates } from './vlan-states.ts'
import { vpcClaims } from './vpc-tenancy.ts'

/** What a Subnet may mean that nothing was decided about since the process began. */
export interface SubnetCandidate {
  /** The lowest comes first, of all Subnets. */
  readonly rank: string
  readonly network: Network
  /** It was in effect when the last process ended: a node that came later than a subnet ends nothing. */
  readonly wasInEffect: boolean
}

/** What a Subnet asks for, without a look at others. */
export interface SubnetClaim {
  readonly name: string
  /** Older ones are lower. */
  readonly age: string
  /** What its specification means. */
  readonly wanted: ResolvedSubnet | undefined
  /** Why it means nothing. */
  readonly problem: SubnetError | undefined
  /** What was decided about it; then it has no candidates. */
  readonly decided: DecidedAcceptance | undefined
  readonly candidates: readonly SubnetCandidate[]
}

const reads = { settingsTable, acceptances, subnets, routerPorts, localnets, ips, vpcClaims, vlanStates }

type Views = { readonly [N in keyof typeof reads]: ViewOf<(typeof reads)[N]> }

/** What each Subnet asks for. */
export const subnetClaims = rowTable({
  name: 'subnet-claims',
  of: subnets,
  reads,
  row: (subnet, views, name): SubnetClaim => {
    const settings = settingsOf(views.settingsTable)
    const decided = decidedFor(subnet.metadata.uid, views.acceptances.get(name))
    return {
      name,
      age: ageOf(subnet),
      ...onServedVlan(inKnownVpc(resolved(name, specOf(subnet, settings), settings), subnet, views), views),
      decided,
      candidates: decided === undefined ? candidatesFor(subnet, settings, views) : [],
    }
  },
})

/** Specifications of the subnets that every cluster has, by name. */
export const builtInSubnets = factTable<SubnetSpec>({ name: 'built-in-subnets' })

/** What built-in subnets ask for that have yet to be created: whoever needs their addresses waits for their switches only. */
export const builtInClaims = rowTable({
  name: 'built-in-claims',
  of: builtInSubnets,
  reads: { settingsTable, acceptances, subnets, vlanStates },
  row: (spec, views, name): SubnetClaim | undefined => {
    if (views.subnets.get(name) !== undefined) return undefined
    // Its Vlan is made by then, if it is on one.
    const { wanted, problem } = onServedVlan(resolved(name, spec, settingsOf(views.settingsTable)), views)
    const decided = decidedFor(undefined, views.acceptances.get(name))
    const network = wanted?.network
    return {
      ...{ name, age: ` ${name}`, wanted, problem },
      decided,
      candidates:
        decided !== undefined || network === undefined
          ? []
          : [{ rank: `3 ${name}`, network, wasInEffect: false }],
    }
  },
})

/** Not what was decided for an earlier object of the name. */
function decidedFor(
  uid: string | undefined,
  found: DecidedAcceptance | undefined,
): DecidedAcceptance | undefined {
  return found?.uid === uid ? found : undefined
}

/** What the specification of a Subnet asks for; that of a built-in one is completed. */
function specOf({ metadata, spec = {} }: Subnet, settings: ControlSettings): SubnetSpec {
  const builtIn = builtInSpec(metadata.name, settings)
  return builtIn === undefined ? spec : withSecondFamily(spec, builtIn)
}

function ageOf({ metadata: { name, creationTimestamp = '' } }: Subnet): string {
  return `${creationTimestamp} ${name}`
}

function resolved(name: string, spec: SubnetSpec, settings: ControlSettings): Resolved {
  try {
    return { wanted: resolveSubnet(name, spec, settings), problem: undefined }
  } catch (error) {
    if (!isSubnetError(error)) throw error
    return { wanted: undefined, problem: error }
  }
}

type Resolved = Pick<SubnetClaim, 'wanted' | 'problem'>

/** What is in effect in a VPC that is being deleted stays so until it is deleted itself. */
function inKnownVpc(claim: Resolved, { status }: Subnet, { vpcClaims }: Views): Resolved {
  const { network } = claim.wanted ?? {}
  if (network === undefined || network.isDefaultVpc || !network.hasSwitch) return claim
  const { name: subnet, vpc } = network
  const refuse = (cure: string): Resolved => ({
    wanted: undefined,
    problem: new SubnetInvalidError({ subnet, field: 'spec.vpc', value: vpc, cure }),
  })
  const found = vpcClaims.get(vpc)
  if (found === undefined || found.isExternal)
    return refuse('create a Vpc of this name, or name one that exists')
  return found.isDeleting && status?.inEffect?.vpc !== vpc
    ? refuse('name another Vpc, or create it anew once it is gone: it is being deleted')
    : claim
}

/** What is in effect on a Vlan that is deleted, or not to be used any more, stays so. */
function onServedVlan(claim: Resolved, { vlanStates }: Pick<Views, 'vlanStates'>): Resolved {
  const { name: subnet = '', vlan: value = '' } = claim.wanted?.network ?? {}
  if (value === '') return claim
  const refuse = (cure: string): Resolved => ({
    wanted: undefined,
    problem: new SubnetInvalidError({ subnet, field: 'spec.vlan', value, cure }),
  })
  const state = vlanStates.get(value)
  if (state === undefined) return refuse('create a Vlan of this name, or name one that exists')
  const { problem } = state
  return problem === undefined
    ? claim
    : refuse(
        `name another Vlan, or mend this one: its ${problem.field} is ${JSON.stringify(problem.value)}; ${problem.cure}`,
      )
}

/**
 * What a subnet was before, or else what it says.
 *
 * Its status says what it means, and was written before its rows were. Where it says nothing (upstream wrote it, or it
 * was lost), it is in effect as the Northbound has it. So a restart changes nothing: what was edited meanwhile is
 * judged like an edit of any other time, once it is known who has which address.
 */
function candidatesFor(subnet: Subnet, settings: ControlSettings, views: Views): readonly SubnetCandidate[] {
  const { name } = subnet.metadata
  const candidate = (order: number, network: Network, wasInEffect: boolean): SubnetCandidate => ({
    rank: `${order} ${ageOf(subnet)}`,
    network,
    wasInEffect,
  })
  const published = publishedNetwork(subnet, settings)
  if (published !== undefined) return [candidate(0, published, true)]
  const means = onServedVlan(inKnownVpc(resolved(name, subnet.spec ?? {}, settings), subnet, views), views)
  const specified = means.wanted?.network
  const former = formerNetwork(subnet, settings, views) ?? networkOfRecords(subnet, settings, views)
  const wasValid = isConditionTrue(subnet.status?.conditions, conditionType.validated)
  if (specified === undefined) return former === undefined ? [] : [candidate(1, former, true)]
  if (former === undefined) return [candidate(wasValid ? 2 : 3, specified, false)]
  const isSettled =
    specified.provider === former.provider &&
    specified.isInterconnected === former.isInterconnected &&
    routerAddresses(specified) === routerAddresses(former)
  if (isSettled) return [candidate(0, specified, true)]
  return [candidate(1, former, true), candidate(wasValid ? 2 : 3, specified, false)]
}

/**
 * What a subnet without a switch meant that was given to another network since: the provider that NICs with addresses of
 * it are named after. There is no such NIC without a subnet of its provider, so it is this one's if it is no other's.
 */
function networkOfRecords(
  { metadata: { name }, spec }: Subnet,
  settings: ControlSettings,
  { ips, subnets }: Views,
): Network | undefined {
  const records = ips.find('subnet', name).filter(isGranted)
  const [provider, ...others] = new Set(records.map(providerOfRecord))
  if (provider === undefined || others.length > 0 || isOvnProvider(provider)) return undefined
  const isServed = subnets.keys('provider', provider).length > 0
  return isServed ? undefined : tryResolve(name, { ...spec, provider }, settings)
}

function providerOfRecord({ metadata, spec }: Ip): string {
  const { namespace = '', podName = '' } = spec ?? {}
  return podPortProvider(namespace, podName, metadata.name)
}

/**
 * Reads from the router's port to a subnet what the subnet meant when the port was written. On a VLAN, which a port of its switch tells of,
 * the router is the gateway or, as the status says, beside it.
 */
function formerNetwork(
  { metadata: { name }, spec, status }: Subnet,
  settings: ControlSettings,
  { routerPorts, localnets }: Views,
): Network | undefined {
  const vpc = vpcNamed(spec?.vpc, settings.clusterRouter)
  const port = routerPortName(vpc, name)
  const networks = routerPorts.find('name', port)[0]?.networks ?? []
  const cidrs = networks.flatMap((text) => tryParseCidr(text) ?? [])
  if (cidrs.length === 0) return undefined
  const vlan = localnets.some('subnet', name) ? (spec?.vlan ?? '') : ''
  const u2oInterconnection = vlan !== '' && isBesideGateway(cidrs, status)
  const addressing = {
    cidrBlock: cidrs.map(networkText).join(','),
    gateway: u2oInterconnection
      ? (spec?.gateway ?? '')
      : cidrs.map(({ address }) => formatIp(address)).join(','),
    vpc,
    ...(vlan === '' ? {} : { vlan, u2oInterconnection, logicalGateway: !u2oInterconnection }),
    // Only what has a switch has a port to the router.
    provider: isOvnProvider(spec?.provider ?? '') ? (spec?.provider ?? primaryProvider) : primaryProvider,
  }
  const { excludeIps = [] } = spec ?? {}
  // A list that is too long excludes something: no address is drawn before it can be read.
  const instead = excludeIps.length > mostEntries ? cidrs.map(blockText) : []
  return (
    tryResolve(name, { ...addressing, excludeIps }, settings) ??
    tryResolve(name, { ...addressing, excludeIps: instead }, settings)
  )
}

/** Whether these are addresses that the status says of a connection beside the gateway. */
function isBesideGateway(cidrs: readonly Cidr[], { u2oInterconnectionIP = '' }: SubnetStatus = {}): boolean {
  const said = u2oInterconnectionIP.split(',').map((text) => tryParseIp(text.trim()))
  return cidrs.every(({ address }) => said.includes(address))
}

/** All addresses of the prefix, as an entry of `excludeIps`. */
function blockText(cidr: Cidr): string {
  return `${formatIp(firstAddress(cidr))}..${formatIp(lastAddress(cidr))}`
}

function routerAddresses(network: Network): string {
  return familiesOf(network)
    .map(({ routerAddress }) => routerAddress)
    .join()
}
