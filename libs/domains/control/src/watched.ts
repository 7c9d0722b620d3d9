import {
  ovnEipLabel,
  placedNics,
  readBorrowedVips,
  readPortVips,
  readSharedVips,
  vipLabel,
} from '@kube-ovn/annotations'
import { formatIp, tryParseIp } from '@kube-ovn/ip'
import { configMaps, namespaces, networkPolicies, nodes, pods, statefulSets } from '@kube-ovn/kube-api/core'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Store } from '@kube-ovn/kube'
import { keepApplied } from '@kube-ovn/reconcile'
import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  dnsNameResolverResource,
  egressFirewallResource,
  instanceOf,
  ipPoolResource,
  ipResource,
  multiNetworkPolicyResource,
  networkAttachmentResource,
  ovnEipResource,
  securityGroupResource,
  providerNetworkResource,
  subnetResource,
  routerLbRuleResource,
  switchLbRuleResource,
  virtualMachineInstanceMigrationResource,
  virtualMachineInstanceResource,
  virtualMachineResource,
  vipResource,
  vlanResource,
  vpcDnsResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import type {
  DnsNameResolver,
  Ip,
  IpPool,
  OvnEip,
  SecurityGroup,
  Subnet,
  VirtualMachineInstanceMigration,
  Vip,
  VpcDns,
} from '@kube-ovn/kube-api'
import { securityGroupPortGroupName } from '@kube-ovn/ovn-names'
import { serviceOfForwarder } from './services/forwarders.ts'
import { subnetOwnerOf } from './addresses/subnet-owner.ts'
import type { Watch } from './declarations.ts'
import { labelOfMade } from './policies/resolver-names.ts'
import { vpcsOfEip } from './topology/eip-owner.ts'
import { allNodeAddresses } from './topology/node-addresses.ts'
import {
  trimAdminPolicy,
  trimAttachment,
  trimConfigMap,
  trimInstance,
  trimMachine,
  trimMigration,
  trimNode,
  trimPod,
  trimPolicy,
  trimStatefulSet,
} from './trim.ts'
import { storeIndex, type WatchedKinds, type WatchedStores } from './watched-kinds.ts'

type Kind = keyof WatchedKinds

/** What several features know. */
export const watched: { readonly [N in Kind]: Watch<WatchedKinds[N]> } = {
  pods: {
    resource: pods,
    trim: trimPod,
    indexes: {
      [storeIndex.podsByMachine]: machineOf,
      [storeIndex.podsByAddress]: ({ metadata: { namespace = '', annotations } }: Pod) => {
        const addresses = placedNics(annotations).flatMap((nic) => nic.addresses)
        return addresses.length === 0 ? [] : ['', ...addresses].map((address) => `${namespace}/${address}`)
      },
      [storeIndex.podsBySharedVip]: (pod: Pod) => readSharedVips(pod.metadata.annotations),
      [storeIndex.podsByBorrowedVip]: (pod: Pod) => readBorrowedVips(pod.metadata.annotations),
      [storeIndex.podsByForwardedService]: (pod: Pod) => {
        const service = serviceOfForwarder(pod)
        return service === undefined ? [] : [service]
      },
      [storeIndex.podsByPortVip]: ({ metadata: { annotations } }: Pod) =>
        readPortVips(annotations).map((ip) => formatIp(ip)),
    },
  },
  nodes: {
    resource: nodes,
    trim: trimNode,
    indexes: { [storeIndex.nodesByAddress]: addressesOfNode },
  },
  namespaces: { resource: namespaces },
  subnets: {
    resource: subnetResource,
    indexes: { [storeIndex.subnetsByProvider]: ({ spec }: Subnet) => [spec?.provider ?? ''] },
  },
  vpcs: { resource: vpcResource },
  vlans: { resource: vlanResource },
  providerNetworks: { resource: providerNetworkResource },
  ips: {
    resource: ipResource,
    indexes: {
      [storeIndex.ipsBySubnet]: (ip: Ip) => [ip.spec?.subnet ?? ''],
      [storeIndex.ipsByPod]: podOf,
    },
  },
  ipPools: {
    resource: ipPoolResource,
    indexes: { [storeIndex.poolsBySubnet]: (pool: IpPool) => [pool.spec?.subnet ?? ''] },
  },
  vips: {
    resource: vipResource,
    indexes: {
      [storeIndex.vipsBySubnet]: (vip: Vip) =>
        subnetsOf(vip.spec?.subnet, vip.metadata.labels?.[vipLabel.subnet]),
    },
  },
  ovnEips: {
    resource: ovnEipResource,
    indexes: {
      [storeIndex.eipsBySubnet]: ({ metadata, spec }: OvnEip) =>
        subnetsOf(spec?.externalSubnet, metadata.labels?.[ovnEipLabel.subnet]),
      [storeIndex.eipsByVpc]: vpcsOfEip,
    },
  },
  switchLbRules: { resource: switchLbRuleResource, trim: keepApplied },
  routerLbRules: { resource: routerLbRuleResource, mayBeAbsent: true },
  vpcDnses: {
    resource: vpcDnsResource,
    indexes: { [storeIndex.dnsesByVpc]: ({ spec }: VpcDns) => [spec?.vpc ?? ''] },
    mayBeAbsent: true,
  },
  configMaps: { resource: configMaps, namespace: 'own', trim: trimConfigMap },
  networkPolicies: { resource: networkPolicies, trim: trimPolicy },
  multiNetworkPolicies: { resource: multiNetworkPolicyResource, trim: trimPolicy, mayBeAbsent: true },
  adminNetworkPolicies: { resource: adminNetworkPolicyResource, trim: trimAdminPolicy, mayBeAbsent: true },
  baselineAdminNetworkPolicies: {
    resource: baselineAdminNetworkPolicyResource,
    trim: trimAdminPolicy,
    mayBeAbsent: true,
  },
  clusterNetworkPolicies: {
    resource: clusterNetworkPolicyResource,
    trim: trimAdminPolicy,
    mayBeAbsent: true,
  },
  egressFirewalls: { resource: egressFirewallResource, mayBeAbsent: true },
  dnsNameResolvers: {
    resource: dnsNameResolverResource,
    trim: keepApplied,
    indexes: {
      [storeIndex.resolversByLabel]: (resolver: DnsNameResolver) => {
        const label = labelOfMade(resolver)
        return label === undefined ? [] : [label]
      },
    },
    mayBeAbsent: true,
  },
  securityGroups: {
    resource: securityGroupResource,
    indexes: {
      [storeIndex.securityGroupsByGroup]: ({ metadata }: SecurityGroup) => [
        securityGroupPortGroupName(metadata.name),
      ],
    },
  },
  statefulSets: { resource: statefulSets, trim: trimStatefulSet },
  networkAttachments: { resource: networkAttachmentResource, trim: trimAttachment, mayBeAbsent: true },
  machines: { resource: virtualMachineResource, trim: trimMachine, mayBeAbsent: true },
  machineInstances: { resource: virtualMachineInstanceResource, trim: trimInstance, mayBeAbsent: true },
  machineMigrations: {
    resource: virtualMachineInstanceMigrationResource,
    trim: trimMigration,
    indexes: { [storeIndex.migrationsByMachine]: machineOfMigration },
    mayBeAbsent: true,
  },
}

/** Takes the store of each resource that the domains watch. */
export function watchedStores(
  take: <N extends Kind>(name: N, watch: Watch<WatchedKinds[N]>) => Store<WatchedKinds[N]>,
): WatchedStores {
  return storesOf(Object.keys(watched) as Kind[], take)
}

/** As {@link watchedStores}, of some of them. */
export function storesOf<K extends Kind>(
  names: readonly K[],
  take: <N extends K>(name: N, watch: Watch<WatchedKinds[N]>) => Store<WatchedKinds[N]>,
): Pick<WatchedStores, K> {
  const entryOf = <N extends K>(name: N) => [name, take(name, watched[name])] as const
  return Object.fromEntries(names.map((name) => entryOf(name))) as Pick<WatchedStores, K>
}

function podOf(ip: Ip): readonly string[] {
  if (subnetOwnerOf(ip) !== undefined) return []
  const { namespace = '', podName = '' } = ip.spec ?? {}
  return namespace === '' ? [] : [`${namespace}/${podName}`]
}

/** Where somebody has addresses, and where he says to have them: once he has some, these do not follow an edit. */
function subnetsOf(specified = '', labelled: string | undefined): readonly string[] {
  return [...new Set([specified, ...(labelled === undefined ? [] : [labelled])])]
}

/** The machine that the pod runs. */
function machineOf({ metadata }: Pod): readonly string[] {
  const instance = instanceOf(metadata.ownerReferences)
  return instance === undefined ? [] : [`${metadata.namespace ?? ''}/${instance.name}`]
}

/** The machine that moves. */
function machineOfMigration({ metadata, spec }: VirtualMachineInstanceMigration): readonly string[] {
  return spec?.vmiName === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.vmiName}`]
}

/** Its own addresses, in canonical text. */
function addressesOfNode(node: Node): readonly string[] {
  return allNodeAddresses([node]).flatMap(({ address }) => {
    const ip = tryParseIp(address)
    return ip === undefined ? [] : [formatIp(ip)]
  })
}
