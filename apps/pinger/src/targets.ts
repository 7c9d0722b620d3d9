import { isIpv4, tryParseIp } from '@kube-ovn/ip'
import type { Node, Pod, Service } from '@kube-ovn/kube'
import type { EchoFamily, PortTarget } from '@kube-ovn/probes'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { PingedTarget } from '@kube-ovn/telemetry'
import { sampleFor } from './sample.ts'

/** An address to ping. */
export interface PingTarget extends PingedTarget {
  /** As people know it. */
  readonly name: string
  readonly address: string
}

/** A port to try. `check` is what the check is called. */
export interface NamedPort extends PortTarget {
  readonly check: string
  readonly name: string
}

export interface Targets {
  readonly pings: readonly PingTarget[]
  readonly ports: readonly NamedPort[]
}

/** What is in the cluster. `undefined` is not known yet. */
export interface ClusterView {
  readonly pods: readonly Pod[] | undefined
  readonly nodes: readonly Node[] | undefined
  readonly services: readonly Service[] | undefined
}

export interface TargetSelection {
  readonly nodeName: string
  readonly families: readonly EchoFamily[]
  readonly sampleSize: number
  readonly externalAddresses: readonly string[]
  readonly ports: readonly PortTarget[]
  /** Ports of pods and nodes that are tried; `undefined` for none. */
  readonly connCheckPorts: { readonly tcp: number; readonly udp: number } | undefined
}

/** The family of an address; `undefined` for what is none. */
export function familyOf(address: string): EchoFamily | undefined {
  const ip = tryParseIp(address)
  return ip === undefined ? undefined : isIpv4(ip) ? 'ipv4' : 'ipv6'
}

/** Works out whom to ask. */
export function targetsOf(view: ClusterView, selection: TargetSelection): Targets {
  const { nodeName, families, sampleSize: size, connCheckPorts } = selection
  function isServed(address: string): boolean {
    const family = familyOf(address)
    return family !== undefined && families.includes(family)
  }
  const pods = (view.pods ?? []).filter(isRunning)
  const pinged = [
    ...sampleFor(nodeName, pods, { size, nameOf: (pod) => pod.spec?.nodeName ?? '' }).flatMap(podTargets),
    ...sampleFor(nodeName, view.nodes ?? [], { size, nameOf: (node) => node.metadata.name }).flatMap(
      nodeTargets,
    ),
  ].filter(({ address }) => isServed(address))
  const external = selection.externalAddresses.map((address) => externalTarget(address))
  const conn =
    connCheckPorts === undefined ? [] : pinged.flatMap((target) => connChecks(target, connCheckPorts))
  const told = selection.ports.map((port) => ({ ...port, check: 'target-ip-ports', name: port.address }))
  const services = (view.services ?? []).flatMap(servicePorts).filter(({ address }) => isServed(address))
  return {
    pings: [...pinged, ...external.filter(({ address }) => isServed(address))],
    ports: [...conn, ...told.filter(({ address }) => isServed(address)), ...services],
  }
}

/**
 * Reads `tcp-10.0.0.1-80`, `udp-fd00::1-53`.
 *
 * @throws ConfigInvalidError
 */
export function parsePortTarget(text: string): PortTarget {
  const [, protocol, address = '', port = ''] = /^(tcp|udp)-(.+)-(\d{1,5})$/.exec(text) ?? []
  const isValid = familyOf(address) !== undefined && Number(port) >= 1 && Number(port) <= 65_535
  if ((protocol === 'tcp' || protocol === 'udp') && isValid) return { protocol, address, port: Number(port) }
  throw new ConfigInvalidError({
    field: '--target-ip-ports',
    value: text,
    cure: 'write PROTOCOL-ADDRESS-PORT, e.g. tcp-10.0.0.1-80 or udp-fd00::1-53',
  })
}

/** One that is gone, or not there yet, has no address that is its own. */
function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running'
}

function podTargets({ metadata, spec, status }: Pod): PingTarget[] {
  const hostIp = status?.hostIP ?? ''
  return (status?.podIPs ?? []).map(({ ip }) => ({
    kind: 'pod',
    name: metadata.name,
    address: ip,
    labels: { target_node_name: spec?.nodeName ?? '', target_node_ip: hostIp, target_pod_ip: ip },
  }))
}

function nodeTargets({ metadata, status }: Node): PingTarget[] {
  return (status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => ({
      kind: 'node',
      name: metadata.name,
      address,
      labels: { target_node_name: metadata.name, target_node_ip: address },
    }))
}

function externalTarget(address: string): PingTarget {
  return { kind: 'external', name: address, address, labels: { target_address: address } }
}

function connChecks({ kind, name, address }: PingTarget, ports: { tcp: number; udp: number }): NamedPort[] {
  return (['tcp', 'udp'] as const).map((protocol) => ({
    check: `${kind}-${protocol}`,
    name,
    protocol,
    address,
    port: ports[protocol],
  }))
}

function servicePorts({ metadata, spec }: Service): NamedPort[] {
  const addresses = (spec?.clusterIPs ?? []).filter((ip) => familyOf(ip) !== undefined)
  const ports = (spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  const name = `${metadata.namespace ?? ''}/${metadata.name}`
  return addresses.flatMap((address) =>
    ports.map(({ port }) => ({ check: 'service', name, protocol: 'tcp' as const, address, port })),
  )
}
