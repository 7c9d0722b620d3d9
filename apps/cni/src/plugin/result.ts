import type { AddressMessage, AttachedMessage, RouteMessage } from '../protocol/messages.ts'
import { isAtLeast } from './versions.ts'

type Json = { readonly [key: string]: unknown }

/**
 * Renders the result of ADD in the form of the given version of the specification.
 *
 * Before 0.3.0 a result has one address per family; up to 0.4.0 an address says its family; from 1.1.0 an
 * interface says its MTU.
 *
 * @see https://www.cni.dev/docs/spec/#add-success
 */
export function renderResult(cniVersion: string, netns: string, attached: AttachedMessage): Json {
  const routes = renderRoutes(attached)
  if (!isAtLeast(cniVersion, '0.3.0')) return renderLegacyResult(cniVersion, attached, routes)
  const nic =
    attached.nicname === ''
      ? []
      : [
          {
            name: attached.nicname,
            mac: attached.mac_address,
            ...(isAtLeast(cniVersion, '1.1.0') && attached.mtu > 0 ? { mtu: attached.mtu } : {}),
            sandbox: netns,
          },
        ]
  const ips = attached.ips.map((address) => ({
    ...(isAtLeast(cniVersion, '1.0.0') ? {} : { version: address.protocol === 'IPv4' ? '4' : '6' }),
    ...(nic.length > 0 ? { interface: 0 } : {}),
    address: withPrefixLength(address),
    ...(address.gateway === '' ? {} : { gateway: address.gateway }),
  }))
  return { cniVersion, interfaces: nic, ips, routes, dns: {} }
}

function renderLegacyResult(cniVersion: string, attached: AttachedMessage, routes: readonly Json[]): Json {
  function family(
    protocol: AddressMessage['protocol'],
    isMember: (destination: unknown) => boolean,
  ): Json | undefined {
    const address = attached.ips.find((candidate) => candidate.protocol === protocol)
    if (address === undefined) return undefined
    return {
      ip: withPrefixLength(address),
      ...(address.gateway === '' ? {} : { gateway: address.gateway }),
      routes: routes.filter((route) => isMember(route['dst'])),
    }
  }
  const ip4 = family('IPv4', (destination) => !String(destination).includes(':'))
  const ip6 = family('IPv6', (destination) => String(destination).includes(':'))
  return { cniVersion, ...(ip4 === undefined ? {} : { ip4 }), ...(ip6 === undefined ? {} : { ip6 }), dns: {} }
}

/** The agent's routes or, if it gave none, a default route by each gateway. */
function renderRoutes(attached: AttachedMessage): readonly Json[] {
  const given: readonly RouteMessage[] =
    attached.routes.length > 0
      ? attached.routes
      : attached.ips
          .filter((address) => address.gateway !== '')
          .map((address) => ({ dst: '', gw: address.gateway }))
  return given.map(({ dst, gw }) => ({
    dst: dst === '' ? (gw.includes(':') ? '::/0' : '0.0.0.0/0') : dst,
    ...(gw === '' ? {} : { gw }),
  }))
}

function withPrefixLength(address: AddressMessage): string {
  return `${address.ip}/${address.cidr.slice(address.cidr.indexOf('/') + 1)}`
}
