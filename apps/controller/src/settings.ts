import type { ControlSettings, DefaultUnderlay } from '@kube-ovn/domains-control'
import { refusalOf } from '@kube-ovn/errors'
import { networkText, overlaps, parseCidrList, parseIp } from '@kube-ovn/ip'
import type { Cidr } from '@kube-ovn/ip'
import { highestVlanId, longestInterface } from '@kube-ovn/kube-api'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { ControllerConfig } from './config.ts'

/** The release of upstream that this one stands in for. */
export const upstreamVersion = 'v1.17.0'

/**
 * Turns flags into what the features go by.
 *
 * @throws ConfigInvalidError when prefixes are malformed or overlap, an address is none, or an underlay can not be what it is to be
 */
export function settingsOf(config: ControllerConfig): ControlSettings {
  checkPrefixes(config)
  for (const address of config.nodeLocalDnsIp) check('--node-local-dns-ip', address, () => parseIp(address))
  return {
    clusterRouter: config.clusterRouter,
    defaultSubnet: {
      name: config.defaultLs,
      cidrBlock: config.defaultCidr,
      gateway: config.defaultGateway,
      excludeIps: config.defaultExcludeIps,
      disableGatewayCheck: !config.defaultGatewayCheck,
    },
    defaultUnderlay: underlayOf(config),
    nodeSwitch: {
      name: config.nodeSwitch,
      cidrBlock: config.nodeSwitchCidr,
      gateway: config.nodeSwitchGateway,
      excludeIps: [],
    },
    enableLb: config.enableLb,
    defaultProvider: config.defaultProviderName,
    externalSubnet: config.externalGatewaySwitch,
    enableEipSnat: config.enableEipSnat,
    enableNp: config.enableNp,
    enableAnp: config.enableAnp,
    enableDnsNameResolver: config.enableDnsNameResolver,
    podNicType: config.podNicType,
    keepVmIp: config.keepVmIp,
    nonPrimaryCni: config.nonPrimaryCniMode,
    nodeLocalDns: config.nodeLocalDnsIp,
    servicePrefixes: prefixesOf('--service-cluster-ip-range', config.serviceClusterIpRange).map(({ cidr }) =>
      networkText(cidr),
    ),
    apiServerAddress: config.apiServerHost === '' ? undefined : config.apiServerHost,
    namespace: config.podNamespace,
    version: upstreamVersion,
    flags: config,
  }
}

function underlayOf(config: ControllerConfig): DefaultUnderlay | undefined {
  if (config.networkType !== 'vlan') return undefined
  const { defaultInterfaceName, defaultVlanId, defaultLogicalGateway, defaultU2oInterconnection } = config
  const refuse = (field: string, value: unknown, cure: string): never => {
    throw new ConfigInvalidError({ field, value: String(value), cure })
  }
  if (
    defaultInterfaceName === '' ||
    defaultInterfaceName.length > longestInterface ||
    /[/\s]/.test(defaultInterfaceName)
  )
    refuse(
      '--default-interface-name',
      defaultInterfaceName,
      `name the NIC by which nodes are connected to the physical network, in ${longestInterface} characters at most: --network-type is vlan`,
    )
  if (defaultVlanId < 0 || defaultVlanId > highestVlanId)
    refuse(
      '--default-vlan-id',
      defaultVlanId,
      `choose a number from 0, which is without a tag, to ${highestVlanId}`,
    )
  if (defaultLogicalGateway && defaultU2oInterconnection)
    refuse(
      '--default-u2o-interconnection',
      defaultU2oInterconnection,
      'switch it off, or --default-logical-gateway: the gateway is either one of OVN or one outside',
    )
  return {
    interface: defaultInterfaceName,
    exchangesLinkName: config.defaultExchangeLinkName,
    vlan: config.defaultVlanName,
    vlanId: defaultVlanId,
    hasLogicalGateway: defaultLogicalGateway,
    isInterconnected: defaultU2oInterconnection,
  }
}

interface Prefix {
  readonly flag: string
  readonly cidr: Cidr
}

function checkPrefixes(config: ControllerConfig): void {
  const prefixes = [
    ...prefixesOf('--default-cidr', config.defaultCidr),
    ...prefixesOf('--node-switch-cidr', config.nodeSwitchCidr),
    ...prefixesOf('--service-cluster-ip-range', config.serviceClusterIpRange),
  ]
  for (const [index, one] of prefixes.entries()) {
    const other = prefixes
      .slice(index + 1)
      .find(({ flag, cidr }) => flag !== one.flag && overlaps(cidr, one.cidr))
    if (other === undefined) continue
    const cure = `choose a prefix that does not overlap ${networkText(other.cidr)} of ${other.flag}`
    throw new ConfigInvalidError({ field: one.flag, value: networkText(one.cidr), cure })
  }
}

function prefixesOf(flag: string, text: string): readonly Prefix[] {
  const { v4, v6 } = check(flag, text, () => parseCidrList(text, flag))
  return [v4, v6].filter((cidr) => cidr !== undefined).map((cidr) => ({ flag, cidr }))
}

function check<T>(field: string, value: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new ConfigInvalidError({ ...refusalOf(error), field, value }, { cause: error })
  }
}
