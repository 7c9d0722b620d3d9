/** Finalizer of the controller on its custom resources. */
export const controllerFinalizer = 'kubeovn.io/kube-ovn-controller'

/** The name that the finalizer had before; replaced where it is found. */
export const deprecatedControllerFinalizer = 'kube-ovn-controller'

/** Whether an object is in the care of the controller, or was in that of an older version. */
export function hasControllerFinalizer(finalizers: readonly string[] = []): boolean {
  return finalizers.some(
    (finalizer) => finalizer === controllerFinalizer || finalizer === deprecatedControllerFinalizer,
  )
}

/** On an object that we apply: the digest of what was applied last. */
export const appliedAnnotation = 'ovn.kubernetes.io/applied'

/** Label of what is made of a VpcDns: `true`. */
export const vpcDnsLabel = 'ovn.kubernetes.io/vpc-dns'

/** Label of the Vip that is made for a Service in an attached network: `true`. */
export const lbSvcLabel = 'ovn.kubernetes.io/lb-svc'

/** Labels of DNSNameResolvers: the policy that names are in, whether a ClusterNetworkPolicy or an AdminNetworkPolicy, or a firewall's namespace. */
export const dnsNameResolverLabel = { adminPolicy: 'anp', egressFirewall: 'egress-firewall' } as const

/** Labels of IP objects by which others select them. */
export const ipLabel = {
  subnet: 'ovn.kubernetes.io/subnet',
  nodeName: 'ovn.kubernetes.io/node-name',
  /** `true`: a user made the object, it outlives its Pod. */
  isReserved: 'ovn.kubernetes.io/ip_reserved',
} as const

/** Longest value of a label, and longest key without its prefix. */
const longestLabel = 63

/**
 * Computes the labels of an IP object.
 *
 * Beside the labels of {@link ipLabel} there is one whose key is the name of the Subnet. Names that are too long for a
 * label are left out, as the API server would refuse the whole object.
 */
export function ipLabels(ip: {
  readonly subnet: string
  readonly nodeName: string
  readonly isReserved: boolean
}): Readonly<Record<string, string>> {
  return {
    [ipLabel.isReserved]: String(ip.isReserved),
    ...(ip.nodeName.length > longestLabel ? {} : { [ipLabel.nodeName]: ip.nodeName }),
    ...(ip.subnet.length > longestLabel ? {} : { [ipLabel.subnet]: ip.subnet, [ip.subnet]: '' }),
  }
}

/** Labels of Vips by which others select them. */
export const vipLabel = {
  subnet: ipLabel.subnet,
  /** Name of the port that has the addresses; empty when no Pod has borrowed them. */
  borrower: ipLabel.isReserved,
} as const

/** Computes the labels of a Vip. Ends of names that are too long for a label are left out. */
export function vipLabels(vip: {
  readonly subnet: string
  readonly borrower: string
}): Readonly<Record<string, string>> {
  return {
    [vipLabel.subnet]: labelValue(vip.subnet),
    [vipLabel.borrower]: labelValue(vip.borrower),
  }
}

/** Labels of OvnEips by which others select them. */
export const ovnEipLabel = {
  subnet: ipLabel.subnet,
  type: 'ovn.kubernetes.io/ovn_eip_type',
  v4: 'ovn.kubernetes.io/eip_v4_ip',
  v6: 'ovn.kubernetes.io/eip_v6_ip',
} as const

/** Computes the labels of an OvnEip; one is absent where it has no address of the family. */
export function ovnEipLabels(eip: {
  readonly subnet: string
  readonly type: string
  readonly v4: string | undefined
  readonly v6: string | undefined
}): Readonly<Record<string, string>> {
  return {
    [ovnEipLabel.subnet]: labelValue(eip.subnet),
    [ovnEipLabel.type]: eip.type,
    ...(eip.v4 === undefined ? {} : { [ovnEipLabel.v4]: eip.v4 }),
    ...(eip.v6 === undefined ? {} : { [ovnEipLabel.v6]: labelOfV6(eip.v6) }),
  }
}

/** What Pods of speakers have in their label `app`. */
export const speakerApp = 'kube-ovn-speaker'

/** Labels of IptablesEIPs by which others select them. */
export const iptablesEipLabel = { gateway: 'ovn.kubernetes.io/vpc-nat-gw-name' } as const

/** Labels of BgpPeers by which others select them. */
export const bgpPeerLabel = { node: ipLabel.nodeName } as const

/** Computes the labels of a BgpPeer. The end of a name that is too long for a label is left out: `spec.node` has all of it. */
export function bgpPeerLabels(node: string): Readonly<Record<string, string>> {
  return { [bgpPeerLabel.node]: labelValue(node) }
}

/** A label's value has no colons, and begins and ends with a letter or a digit. */
function labelOfV6(address: string): string {
  return address.slice(0, longestLabel).replaceAll(':', '-').replace(/^-/, '0-').replace(/-$/, '-0')
}

/** A label's value ends with a letter or a digit. */
export function labelValue(name: string): string {
  return name.slice(0, longestLabel).replace(/[^A-Za-z0-9]+$/, '')
}
