import { speakerApp } from '@kube-ovn/annotations'
import { bgpPeerCondition, type BgpPeer, type Subnet } from '@kube-ovn/kube-api'
import type { Node, Pod } from '@kube-ovn/kube-api/core'

const key = 'ovn.kubernetes.io/bgp'
/** What an annotation may say, and what nobody can make sense of. */
export const policies = [undefined, 'true', 'cluster', 'local', 'everywhere'] as const
export type Policy = (typeof policies)[number]

export function annotationsOf(policy: Policy): Readonly<Record<string, string>> {
  return policy === undefined ? {} : { [key]: policy }
}

export function subnet(name: string, cidrBlock: string, policy: Policy): Subnet {
  return {
    metadata: { name, annotations: annotationsOf(policy) },
    spec: { cidrBlock },
    status: { inEffect: { cidrBlock } },
  }
}

export function pod(
  name: string,
  nodeName: string,
  logicalSwitch: string,
  addresses: string,
  policy: Policy,
): Pod {
  return {
    metadata: {
      ...{ name, namespace: 'shop' },
      annotations: {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': addresses,
        'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
        'ovn.kubernetes.io/logical_switch': logicalSwitch,
        ...annotationsOf(policy),
      },
    },
    spec: { nodeName, containers: [] },
  }
}

/** Ready on node-2. */
export const otherSpeaker = {
  metadata: { name: 'speaker', namespace: 'kube-system', labels: { app: speakerApp } },
  spec: { nodeName: 'node-2', hostNetwork: true, containers: [] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
} as Pod

export function node(name: string, unschedulable: boolean): Node {
  return { metadata: { name }, spec: { unschedulable } }
}

/** How a node's session with some router is doing. */
export function bgpPeer(nodeName: string, isUp: boolean): BgpPeer {
  const { type, reason } = bgpPeerCondition
  return {
    metadata: { name: `${nodeName}-router` },
    spec: { node: nodeName, neighbor: '192.0.2.1' },
    status: {
      state: isUp ? 'Established' : 'Active',
      conditions: [
        {
          type,
          ...(isUp
            ? { status: 'True', reason: reason.established }
            : { status: 'False', reason: reason.connecting }),
        },
      ],
    },
  }
}

/** Text of a table, the first row of which is its head. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}
