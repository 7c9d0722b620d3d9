import { formatIp, familyOf, type DualStackIp } from '@kube-ovn/ip'
import { usualCorefile, type VpcDns } from '@kube-ovn/kube-api'
import { vpcDnsConfig } from '@kube-ovn/domains-control'
import type { DnsConfig } from './config.ts'
import { VpcDnsInvalidError } from './errors.ts'

/** The name servers that a VpcDns asks for. */
export interface DnsPlan {
  /** Of everything that is made. */
  readonly name: string
  /** The controller's own. */
  readonly namespace: string
  readonly vpc: string
  readonly subnet: string
  readonly replicas: number
  readonly image: string
  readonly vip: string
  /** ConfigMap with the Corefile. */
  readonly corefile: string
  /** It is made, too: there is none of the usual name. */
  readonly makesCorefile: boolean
  /** The NIC by which the API server is reached. */
  readonly network: {
    readonly name: string
    readonly provider: string
    readonly subnet: string
    readonly destination: string
    readonly gateway: string
  }
  /** What the name servers are told of the API server. */
  readonly host: string | undefined
  readonly port: string | undefined
}

/** What decides besides the VpcDns and the ConfigMap that goes for all. */
export interface DnsSurroundings {
  readonly namespace: string
  /** Of the network; `undefined` when there is no such one. */
  readonly provider: string | undefined
  /** The default Subnet; `undefined` while it is not in effect. */
  readonly defaultSubnet: { readonly name: string; readonly gateways: DualStackIp } | undefined
  readonly corefile: { readonly name: string; readonly makes: boolean }
}

const prefix = 'vpc-dns-'

/** Name of what is made of a VpcDns. */
export function madeName(dns: string): string {
  return `${prefix}${dns}`
}

/** The VpcDns of which something of this name would be made. */
export function dnsOfName(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** Whether it is the name of a ConfigMap that users write: none is made under it, and whatever is there was not made. */
export function isOfUsers(name: string): boolean {
  return name === usualCorefile || name === vpcDnsConfig
}

/** How many name servers there are where nobody says so. */
const usualReplicas = 2
const mostReplicas = 1000

/**
 * Works out what a VpcDns asks for.
 *
 * @throws VpcDnsInvalidError that names the field
 */
export function planOf({ metadata, spec = {} }: VpcDns, config: DnsConfig, around: DnsSurroundings): DnsPlan {
  const { vpc = '', subnet = '', replicas = 0 } = spec
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > mostReplicas) {
    const cure = `write a number from 1 to ${mostReplicas}, or leave it out for ${usualReplicas}`
    throw new VpcDnsInvalidError({ field: 'spec.replicas', value: String(replicas), cure })
  }
  return {
    ...{ name: nameOf(metadata.name), namespace: around.namespace, vpc, subnet },
    replicas: replicas === 0 ? usualReplicas : replicas,
    ...{ image: config.image, vip: config.vip, host: config.host, port: config.port },
    ...{ corefile: around.corefile.name, makesCorefile: around.corefile.makes },
    network: networkOf(config, around),
  }
}

/** Of the Service that is made of the SwitchLBRule, `slr-` before it. */
const longestName = 63 - 'slr-'.length
const nameForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

function nameOf(dns: string): string {
  const name = madeName(dns)
  if (isOfUsers(name)) {
    const cure = `create it anew under another name: ${name} is a ConfigMap that users write`
    throw new VpcDnsInvalidError({ field: 'metadata.name', value: dns, cure })
  }
  if (name.length <= longestName && nameForm.test(name)) return name
  const most = longestName - prefix.length
  const cure = `create it anew under a name of at most ${most} small letters, digits and dashes: a Service is named after it`
  throw new VpcDnsInvalidError({ field: 'metadata.name', value: dns, cure })
}

function networkOf(
  { network, provider: written, apiServer }: DnsConfig,
  { namespace, provider, defaultSubnet }: DnsSurroundings,
): DnsPlan['network'] {
  const place = `the ConfigMap ${namespace}/vpc-dns-config`
  if (provider === undefined) {
    const cure = `create the NetworkAttachmentDefinition default/${network}, or write one that is there into nad-name of ${place}`
    throw new VpcDnsInvalidError({ field: 'data.nad-name', value: network, cure })
  }
  if (written !== '' && written !== provider) {
    const cure = `write ${provider} into nad-provider of ${place}, or remove the key`
    throw new VpcDnsInvalidError({ field: 'data.nad-provider', value: written, cure })
  }
  const family = familyOf(apiServer)
  const gateway = family === 4 ? defaultSubnet?.gateways.v4 : defaultSubnet?.gateways.v6
  if (defaultSubnet === undefined || gateway === undefined) {
    const cure = `write an address of the API server that is of a family of the default Subnet into k8s-service-host of ${place}`
    throw new VpcDnsInvalidError({ field: 'data.k8s-service-host', value: formatIp(apiServer), cure })
  }
  return {
    ...{ name: network, provider, subnet: defaultSubnet.name },
    destination: `${formatIp(apiServer)}/${family === 4 ? 32 : 128}`,
    gateway: formatIp(gateway),
  }
}
