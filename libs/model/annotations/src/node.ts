import { formatIp, parseIp, type DualStackCidr, type DualStackIp, type Ip, type Mac } from '@kube-ovn/ip'
import { addressesAnnotation, cidrsAnnotation, macAnnotation, usableGateways } from './addresses.ts'
import { annotation, flagAnnotation, textAnnotation, type Annotations } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { parseObject } from './json-object.ts'
import { mostWords } from './words.ts'

const prefix = 'ovn.kubernetes.io'

/** The annotations of a Node. */
export const nodeAnnotations = {
  /** The address in the join subnet was allocated; workers wait for it. Controller. */
  allocated: flagAnnotation(`${prefix}/allocated`),
  /** Join addresses. Controller. */
  ipAddress: addressesAnnotation(`${prefix}/ip_address`),
  macAddress: macAnnotation(`${prefix}/mac_address`),
  /** Of the join subnet. Controller. */
  cidr: cidrsAnnotation(`${prefix}/cidr`),
  gateway: addressesAnnotation(`${prefix}/gateway`),
  logicalSwitch: textAnnotation(`${prefix}/logical_switch`),
  /** `node-<node>`. Controller. */
  portName: textAnnotation(`${prefix}/port_name`),
  /** Name of the OVN chassis, the system-id of Open vSwitch. Node agent. */
  chassis: textAnnotation(`${prefix}/chassis`),
  /** NIC for tunnels, beats the agent's flag. User. */
  tunnelInterface: textAnnotation(`${prefix}/tunnel_interface`),
  /** Address for tunnels by name of a node network; Subnets refer to the names. User. */
  nodeNetworks: annotation(`${prefix}/node_networks`, parseNetworks, formatNetworks),
} as const

/** Labels of a Node by which it is told apart. User. */
export const nodeLabel = {
  /** `userspace`: its tunnels end at an interface of the userspace data path. */
  datapath: `${prefix}/ovs_dp_type`,
  /** Of the provider of machines: where latency is low. Kubernetes, or whoever operates it. */
  zone: 'topology.kubernetes.io/zone',
  /** One for each Node. Kubelet. */
  hostname: 'kubernetes.io/hostname',
} as const

/** Label of a Node: `true` where routers reach external networks by way of it. User. */
export const externalGatewayLabel = `${prefix}/external-gw`

/** Label of a Node: `true` where it forwards what VPCs share among nodes, by its OvnEip. Node agent. */
export const sharedGatewayLabel = `${prefix}/node-ext-gw`

/** Taints of a Node that mean something to us. */
export const nodeTaint = {
  /** The machine is off, and stays so until the taint is gone. Operator, as for any non-graceful shutdown. */
  outOfService: 'node.kubernetes.io/out-of-service',
} as const

/** How a node is connected to the pod network, by `ovn0`. */
export interface NodeNetwork {
  readonly addresses: DualStackIp
  readonly mac: Mac
  readonly cidrs: DualStackCidr
  /** Of the families in which the node has an address. */
  readonly gateways: DualStackIp
  readonly portName: string | undefined
}

/**
 * Reads the join address that the controller gave the node; `undefined` before it did.
 *
 * @throws AnnotationInvalidError
 */
export function readNodeNetwork(annotations: Annotations | undefined): NodeNetwork | undefined {
  const mac = nodeAnnotations.macAddress.read(annotations)
  const addresses = nodeAnnotations.ipAddress.read(annotations)
  if (nodeAnnotations.allocated.read(annotations) !== true || mac === undefined || addresses === undefined) {
    return undefined
  }
  return {
    addresses,
    mac,
    cidrs: nodeAnnotations.cidr.read(annotations) ?? {},
    gateways: usableGateways(nodeAnnotations.gateway.read(annotations), addresses),
    portName: nodeAnnotations.portName.read(annotations),
  }
}

function parseNetworks(text: string, field: string): ReadonlyMap<string, Ip> {
  const refused = {
    field,
    value: text,
    cure: 'write a JSON object of addresses like {"storage":"192.168.100.10"}',
  }
  const entries = Object.entries(parseObject(refused))
  if (entries.length > mostWords) {
    throw new AnnotationInvalidError({ ...refused, cure: `name at most ${mostWords} networks` })
  }
  return new Map(
    entries.map(([name, address]) => {
      if (typeof address !== 'string') throw new AnnotationInvalidError(refused)
      return [name, parseIp(address, field)]
    }),
  )
}

function formatNetworks(networks: ReadonlyMap<string, Ip>): string {
  return JSON.stringify(Object.fromEntries([...networks].map(([name, address]) => [name, formatIp(address)])))
}
