import { isOvnProvider, longestProvider, primaryProvider } from '@kube-ovn/annotations'
import {
  checkLength,
  compareIps,
  contains,
  familyOf,
  formatIp,
  lastAddress,
  networkText,
  overlaps,
  parseCidr,
  parseCidrList,
  parseIp,
  parseIpList,
  tryParseIp,
  usableRange,
} from '@kube-ovn/ip'
import type { Cidr, DualStackCidr, DualStackIp, Ip } from '@kube-ovn/ip'
import { vpcNamed, type SubnetSpec } from '@kube-ovn/kube-api'
import type { ControlSettings } from '../settings.ts'
import { resolveAdvertising } from './advertising.ts'
import { resolveDhcp } from './dhcp-wishes.ts'
import { resolveEgress } from './egress.ts'
import { inSubnet, SubnetInvalidError, SubnetUnsupportedError } from './errors.ts'
import { normaliseExcludeIps } from './exclude-ips.ts'
import { resolveInterconnect } from './interconnects.ts'
import { resolveIsolation } from './isolation.ts'
import { resolveNatRules } from './nat-rules.ts'
import type { Network } from './network.ts'

/** A specification that makes sense, and what the controller writes into it. */
export interface ResolvedSubnet {
  readonly network: Network
  /** Fields of the specification in their normal form; `null` where a field has to go. */
  readonly normalised: NormalisedSpec
}

export type NormalisedSpec = {
  readonly cidrBlock: string
  readonly protocol: 'IPv4' | 'IPv6' | 'Dual'
  readonly gateway: string
  readonly excludeIps: readonly string[]
  readonly provider: string
  readonly vpc?: string
  readonly default: boolean
  readonly gatewayType?: string
  readonly enableLb?: boolean | null
  readonly natOutgoing: boolean
  readonly private: boolean
  readonly u2oInterconnection?: boolean
  readonly u2oInterconnectionIP?: string
}

/** Prefixes that hold no addresses of hosts (RFC 6890). */
const reservedCidrs = [
  '255.255.255.255/32',
  '224.0.0.0/4',
  '127.0.0.0/8',
  '0.0.0.0/32',
  '169.254.0.0/16',
  '::/128',
  '::1/128',
  'ff00::/8',
  'fe80::/10',
].map((text) => parseCidr(text))

/**
 * Brings a specification into its normal form and checks it, without a look at other objects.
 *
 * @throws SubnetInvalidError or SubnetUnsupportedError that names the field, its value and the cure
 */
export function resolveSubnet(name: string, spec: SubnetSpec, settings: ControlSettings): ResolvedSubnet {
  const check = (field: string, value: string, cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet: name, field, value, cure })
  refuseUnsupported(name, spec)

  const cidrs = inSubnet(name, () => parseCidrList(spec.cidrBlock ?? '', 'spec.cidrBlock'))
  const all: readonly Cidr[] = [cidrs.v4, cidrs.v6].filter((cidr) => cidr !== undefined)
  const provider = spec.provider || primaryProvider
  const hasSwitch = isOvnProvider(provider)
  const gateways = resolveGateways(name, spec.gateway ?? '', cidrs)
  inSubnet(name, () => checkLength(spec.vips ?? [], 'spec.vips', 'each is a port of its own'))
  for (const vip of spec.vips ?? []) checkVip(name, vip, cidrs)
  resolveIsolation(name, spec)
  resolveAdvertising(name, spec)
  resolveNatRules(name, spec)
  resolveDhcp(name, spec)
  checkEgress(name, spec, cidrs)
  const isJoin = name === settings.nodeSwitch.name
  const isDefault = name === settings.defaultSubnet.name
  const vpc = hasSwitch ? vpcNamed(spec.vpc, settings.clusterRouter) : ''
  const isDefaultVpc = vpc === settings.clusterRouter
  if ((isJoin || isDefault) && !isDefaultVpc)
    throw check(
      'spec.vpc',
      vpc,
      `put it back to ${settings.clusterRouter}: the cluster needs this subnet there`,
    )
  const vlan = hasSwitch ? (spec.vlan ?? '') : ''
  const isInterconnected = vlan !== '' && spec.u2oInterconnection === true
  const isRouted = hasSwitch && (vlan === '' || spec.logicalGateway === true || isInterconnected)
  checkInterconnect(name, spec, cidrs, gateways)
  if (isJoin && vlan !== '')
    throw check('spec.vlan', vlan, 'leave it empty: nodes reach the default VPC by this subnet')
  for (const cidr of all) checkCidr(name, cidr, isDefaultVpc && isRouted, settings)
  if (name === vpc) throw check('metadata.name', name, 'give the subnet another name than its VPC has')
  if (cidrs.v6 !== undefined && spec.mtu !== undefined && spec.mtu > 0 && spec.mtu < 1280) {
    throw check('spec.mtu', String(spec.mtu), 'IPv6 needs at least 1280 (RFC 8200), or 0 to derive it')
  }

  const order = writtenOrder(spec.cidrBlock ?? '', cidrs)
  const cidrBlock = order.map(networkText).join(',')
  const gateway = order
    .map((cidr) => (cidr.family === 4 ? gateways.v4 : gateways.v6))
    .filter((ip) => ip !== undefined)
    .map((ip) => formatIp(ip))
    .join(',')
  const excludeIps = inSubnet(name, () => normaliseExcludeIps(spec.excludeIps ?? [], gateways))
  const { natOutgoing = false, mtu = 0 } = spec
  return {
    network: {
      ...{
        name,
        vpc,
        isDefaultVpc,
        provider,
        hasSwitch,
        cidrs,
        gateways,
        cidrBlock,
        gateway,
        excludeIps,
        isJoin,
      },
      ...{ natOutgoing, mtu, vlan, isRouted, isInterconnected },
    },
    normalised: {
      cidrBlock,
      protocol: all.length === 2 ? 'Dual' : cidrs.v4 === undefined ? 'IPv6' : 'IPv4',
      gateway,
      excludeIps,
      provider,
      ...(hasSwitch ? { vpc } : {}),
      // In another VPC it is for the user to say which Subnet serves namespaces that are bound to none.
      default: isDefaultVpc || !hasSwitch ? isDefault : (spec.default ?? false),
      ...(isJoin || !isDefaultVpc ? {} : { gatewayType: spec.gatewayType || 'distributed' }),
      ...(isJoin ? joinLoadBalancing(spec) : { enableLb: spec.enableLb ?? settings.enableLb }),
      natOutgoing,
      private: spec.private ?? false,
      ...notInterconnected(spec),
    },
  }
}

/** As upstream has it: only an underlay subnet has a connection, and only a connection an address. */
function notInterconnected({
  vlan = '',
  u2oInterconnection = false,
  u2oInterconnectionIP = '',
}: SubnetSpec): Pick<NormalisedSpec, 'u2oInterconnection' | 'u2oInterconnectionIP'> {
  return {
    ...(u2oInterconnection && vlan === '' ? { u2oInterconnection: false } : {}),
    ...(u2oInterconnectionIP !== '' && !(u2oInterconnection && vlan !== '')
      ? { u2oInterconnectionIP: '' }
      : {}),
  }
}

function checkInterconnect(
  subnet: string,
  spec: SubnetSpec,
  cidrs: DualStackCidr,
  gateways: DualStackIp,
): void {
  const { v4, v6 } = resolveInterconnect(subnet, spec)?.wish ?? {}
  for (const ip of [v4, v6]) {
    if (ip === undefined) continue
    const [cidr, gateway] = familyOf(ip) === 4 ? [cidrs.v4, gateways.v4] : [cidrs.v6, gateways.v6]
    const cure =
      cidr === undefined
        ? 'cidrBlock has no prefix of this family: leave this address out'
        : !contains(cidr, ip)
          ? `choose an address inside ${networkText(cidr)}, or leave it empty for one that is free`
          : ip === gateway
            ? 'this is the gateway of the physical network: choose another one'
            : undefined
    const field = 'spec.u2oInterconnectionIP'
    if (cure !== undefined) throw new SubnetInvalidError({ subnet, field, value: formatIp(ip), cure })
  }
}

/** The nodes' switch has no load balancers, whatever was asked for. */
function joinLoadBalancing(spec: SubnetSpec): { readonly enableLb?: null } {
  return spec.enableLb === undefined ? {} : { enableLb: null }
}

function refuseUnsupported(name: string, spec: SubnetSpec): void {
  const refuse = (field: string, value: string, cure: string): SubnetUnsupportedError =>
    new SubnetUnsupportedError({ subnet: name, field, value, cure })
  if (!isProvider(spec.provider || primaryProvider)) {
    const cure = `write ovn, or <nad>.<namespace>.ovn, or <nad>.<namespace> for NICs of another CNI, of at most ${longestProvider} characters`
    throw new SubnetInvalidError({
      subnet: name,
      field: 'spec.provider',
      value: spec.provider ?? '',
      cure,
    })
  }
  const isUnderlay = (spec.vlan ?? '') !== ''
  if (isUnderlay && (spec.cidrBlock ?? '') === '') {
    throw refuse(
      'spec.cidrBlock',
      '',
      'give it a prefix: guests that have their addresses from elsewhere are not served by this version',
    )
  }
  if (isUnderlay && spec.logicalGateway === true && spec.u2oInterconnection === true) {
    throw new SubnetInvalidError({
      subnet: name,
      field: 'spec.logicalGateway',
      value: 'true',
      cure: 'switch either it or u2oInterconnection off: the gateway is one of OVN, or one of the physical network',
    })
  }
}

/** Annotations are named after it. */
function isProvider(provider: string): boolean {
  if (provider.length > longestProvider) return false
  const labels = provider.split('.')
  return isOvnProvider(provider) || (labels.length > 1 && labels.every((label) => dnsLabel.test(label)))
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

function checkCidr(subnet: string, cidr: Cidr, isDefaultVpc: boolean, settings: ControlSettings): void {
  const value = networkText(cidr)
  const refuse = (cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet, field: 'spec.cidrBlock', value, cure })
  if (cidr.prefixLength === (cidr.family === 4 ? 32 : 128)) {
    throw refuse(`use a prefix with room for a gateway and a pod, at most /${cidr.prefixLength - 1}`)
  }
  const reserved = reservedCidrs.find((block) => overlaps(block, cidr))
  if (reserved !== undefined)
    throw refuse(`choose a prefix outside ${networkText(reserved)}, which is reserved`)
  const apiServer =
    settings.apiServerAddress === undefined ? undefined : tryParseIp(settings.apiServerAddress)
  if (isDefaultVpc && apiServer !== undefined && contains(cidr, apiServer)) {
    throw refuse(`choose a prefix that does not contain the API server's address ${formatIp(apiServer)}`)
  }
}

/** Takes the gateways that are given and the first usable address for a family without one. */
function resolveGateways(subnet: string, text: string, cidrs: DualStackCidr): DualStackIp {
  const given: DualStackIp = text === '' ? {} : inSubnet(subnet, () => parseIpList(text, 'spec.gateway'))
  for (const ip of [given.v4, given.v6]) {
    if (ip !== undefined) checkGateway(subnet, ip, familyOf(ip) === 4 ? cidrs.v4 : cidrs.v6)
  }
  return {
    v4: cidrs.v4 === undefined ? undefined : (given.v4 ?? usableRange(cidrs.v4).first),
    v6: cidrs.v6 === undefined ? undefined : (given.v6 ?? usableRange(cidrs.v6).first),
  }
}

function checkGateway(subnet: string, ip: Ip, cidr: Cidr | undefined): void {
  const value = formatIp(ip)
  const refuse = (cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet, field: 'spec.gateway', value, cure })
  if (cidr === undefined)
    throw refuse('cidrBlock has no prefix of this family: add one, or leave this gateway out')
  if (!contains(cidr, ip))
    throw refuse(`choose an address inside ${networkText(cidr)}, or leave it empty for the first one`)
  const isPointToPoint = cidr.prefixLength === (cidr.family === 4 ? 31 : 127)
  if (isPointToPoint) return
  if (compareIps(ip, cidr.network) === 0) throw refuse('this is the network address: choose another one')
  if (cidr.family === 4 && compareIps(ip, lastAddress(cidr)) === 0) {
    throw refuse('this is the broadcast address: choose another one')
  }
}

function checkVip(subnet: string, value: string, cidrs: DualStackCidr): void {
  const ip = inSubnet(subnet, () => parseIp(value, 'spec.vips'))
  const cidr = familyOf(ip) === 4 ? cidrs.v4 : cidrs.v6
  if (cidr !== undefined && contains(cidr, ip)) return
  const cure =
    cidr === undefined
      ? 'cidrBlock has no prefix of this family: remove the address'
      : `choose an address inside ${networkText(cidr)}, or remove it`
  throw new SubnetInvalidError({ subnet, field: 'spec.vips', value, cure })
}

function checkEgress(name: string, spec: SubnetSpec, cidrs: DualStackCidr): void {
  const addresses = resolveEgress(name, spec)?.external?.addresses
  if (addresses === undefined) return
  const { v4, v6 } = parseIpList(addresses)
  if ((v4 === undefined || cidrs.v4 !== undefined) && (v6 === undefined || cidrs.v6 !== undefined)) return
  const field = 'spec.externalEgressGateway'
  const cure = 'give next hops of the families of cidrBlock only'
  throw new SubnetInvalidError({ subnet: name, field, value: addresses, cure })
}

/** The prefixes in the order in which the user wrote them, so that a specification is never rewritten needlessly. */
function writtenOrder(text: string, cidrs: DualStackCidr): readonly Cidr[] {
  const both: readonly Cidr[] = [cidrs.v4, cidrs.v6].filter((cidr) => cidr !== undefined)
  const isV6First = parseFirst(text) === 6
  return isV6First ? both.toReversed() : both
}

function parseFirst(text: string): 4 | 6 {
  const first = text.split(',')[0]?.trim().split('/')[0] ?? ''
  return familyOf(parseIp(first, 'spec.cidrBlock'))
}
