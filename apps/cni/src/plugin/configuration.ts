import type { RouteMessage } from '../protocol/messages.ts'
import { CniError, cniErrorCode } from './errors.ts'
import { oldestVersion } from './versions.ts'

/** What the plugin takes from the network configuration on its standard input. */
export interface Configuration {
  readonly cniVersion: string
  readonly name: string
  readonly type: string
  readonly serverSocket: string
  readonly provider: string
  readonly routes: readonly RouteMessage[]
  readonly dns: unknown
  readonly deviceId: string
  readonly vfDriver: string
  readonly vhostUserSocketVolumeName: string
  readonly vhostUserSocketName: string
  readonly vhostUserSocketConsumption: string
  readonly validAttachments: readonly { readonly containerId: string; readonly ifName: string }[]
}

type Json = { readonly [key: string]: unknown }

const defaultProvider = 'ovn'

/**
 * Reads the network configuration.
 *
 * When another plugin (macvlan, bridge, …) delegates address management to this one, the fields about the agent are
 * in its `ipam` object, and win over those at the top.
 */
export function parseConfiguration(text: string): Configuration {
  const json = parseObject(text)
  const type = string(json, 'type')
  const ipam = record(json['ipam'])
  const source = type !== 'kube-ovn' && ipam !== undefined ? { ...json, ...pick(ipam) } : json
  return {
    cniVersion: string(json, 'cniVersion') || oldestVersion,
    name: string(json, 'name'),
    type,
    serverSocket: string(source, 'server_socket'),
    provider: string(source, 'provider') || defaultProvider,
    routes: routes(source['routes']),
    dns: json['dns'],
    deviceId: string(json, 'deviceID'),
    vfDriver: string(json, 'vf_driver'),
    vhostUserSocketVolumeName: string(json, 'vhost_user_socket_volume_name'),
    vhostUserSocketName: string(json, 'vhost_user_socket_name'),
    vhostUserSocketConsumption: string(json, 'vhost_user_socket_consumption'),
    validAttachments: list(json['cni.dev/valid-attachments']).map((entry) => ({
      containerId: string(entry, 'containerID'),
      ifName: string(entry, 'ifname'),
    })),
  }
}

function pick(ipam: Json): Json {
  return {
    server_socket: ipam['server_socket'] ?? '',
    provider: ipam['provider'] ?? '',
    routes: ipam['routes'] ?? [],
  }
}

function parseObject(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw undecodable(cause instanceof Error ? cause.message : 'not JSON')
  }
  const object = record(value)
  if (object === undefined) throw undecodable('not a JSON object')
  return object
}

function undecodable(why: string): CniError {
  return new CniError(cniErrorCode.decodingFailure, 'failed to load netconf', why)
}

function record(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

function string(object: Json, key: string): string {
  const value = object[key]
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw undecodable(`${key} must be a string`)
  return value
}

function list(value: unknown): readonly Json[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw undecodable('a list was expected')
  return value.map((entry) => {
    const object = record(entry)
    if (object === undefined) throw undecodable('a list of objects was expected')
    return object
  })
}

function routes(value: unknown): readonly RouteMessage[] {
  return list(value).map((entry) => ({ dst: string(entry, 'dst'), gw: string(entry, 'gw') }))
}
