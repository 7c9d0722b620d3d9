import type { ControlSettings } from '@kube-ovn/domains-control'
import { refusalOf } from '@kube-ovn/errors'
import { networkText, overlaps, parseCidrList, parseIp } from '@kube-ovn/ip'
import type { Cidr } from '@kube-ovn/ip'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { ControllerConfig } from './config.ts'

/** The release of upstream that this one stands in for. */
export const upstreamVersion = 'v1.17.0'

/**
 * Turns flags into what the features go by.
 *
 * @throws ConfigInvalidError when prefixes are malformed or overlap, or an address is none
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
    podNicType: config.podNicType,
    keepVmIp: config.keepVmIp,
    nonPrimaryCni: config.nonPrimaryCniMode,
    nodeLocalDns: config.nodeLocalDnsIp,
    servicePrefixes: prefixesOf('--service-cluster-ip-range', config.serviceClusterIpRange).map(({ cidr }) =>
      networkText(cidr),
    ),
    apiServerAddress: config.apiServerHost === '' ? undefined : config.apiServerHost,
    version: upstreamVersion,
    flags: config,
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
