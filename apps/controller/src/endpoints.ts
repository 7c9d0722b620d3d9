import { urlHost } from '@kube-ovn/ip'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { ControllerConfig } from './config.ts'

/**
 * Gives the Northbound servers: those named, or one on every database host, or the Service, as kubelet tells it.
 *
 * @throws ConfigInvalidError when none of them is given
 */
export function northboundEndpoints(config: ControllerConfig): readonly string[] {
  const { ovnNbAddr: named, nbPort: port, nbServiceHost, nbServicePort } = config
  const endpoints = endpointsOf(config, {
    named,
    port,
    service: { host: nbServiceHost, port: nbServicePort },
  })
  if (endpoints.length > 0) return endpoints
  const cure =
    'set it to the addresses of the database servers, or OVN_NB_ADDR to the Northbound, e.g. tcp:10.0.0.1:6641'
  throw new ConfigInvalidError({ field: 'OVN_DB_IPS', value: '', cure })
}

/** Gives the Southbound servers likewise; none when nobody says where they are. */
export function southboundEndpoints(config: ControllerConfig): readonly string[] {
  const { ovnSbAddr: named, sbPort: port, sbServiceHost, sbServicePort } = config
  return endpointsOf(config, { named, port, service: { host: sbServiceHost, port: sbServicePort } })
}

interface Known {
  readonly named: string
  /** On the hosts of the databases. */
  readonly port: number
  readonly service: { readonly host: string; readonly port: number }
}

function endpointsOf(
  { enableSsl, ovnDbIps }: ControllerConfig,
  { named, port, service }: Known,
): readonly string[] {
  const addresses = named.split(',').filter((address) => address !== '')
  if (addresses.length > 0) return addresses
  const protocol = enableSsl ? 'ssl' : 'tcp'
  const endpoint = (host: string, at: number): string => `${protocol}:${urlHost(host)}:${at}`
  if (ovnDbIps.length > 0) return ovnDbIps.map((ip) => endpoint(ip, port))
  return service.host === '' ? [] : [endpoint(service.host, service.port)]
}
