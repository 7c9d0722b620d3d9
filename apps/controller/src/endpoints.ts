import { urlHost } from '@kube-ovn/ip'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { TlsFiles } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'

/**
 * Gives the Northbound servers: those named, or one on every database host, or the Service, as kubelet tells it.
 *
 * @throws ConfigInvalidError when none of them is given
 */
export function northboundEndpoints(config: ControllerConfig): readonly string[] {
  const named = config.ovnNbAddr.split(',').filter((address) => address !== '')
  if (named.length > 0) return named
  const protocol = config.enableSsl ? 'ssl' : 'tcp'
  const endpoint = (host: string, port: number): string => `${protocol}:${urlHost(host)}:${port}`
  if (config.ovnDbIps.length > 0) return config.ovnDbIps.map((ip) => endpoint(ip, config.nbPort))
  if (config.nbServiceHost !== '') return [endpoint(config.nbServiceHost, config.nbServicePort)]
  const cure =
    'set it to the addresses of the database servers, or OVN_NB_ADDR to the Northbound, e.g. tcp:10.0.0.1:6641'
  throw new ConfigInvalidError({ field: 'OVN_DB_IPS', value: '', cure })
}

/** Where the certificate for the databases is mounted. */
export const databaseTls: TlsFiles = {
  privateKeyFile: '/var/run/tls/key',
  certificateFile: '/var/run/tls/cert',
  caFile: '/var/run/tls/cacert',
}
