import type { TlsFiles } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'

/** Gives the Northbound servers: those named, or one on every database host. */
export function northboundEndpoints(config: ControllerConfig): readonly string[] {
  const named = config.ovnNbAddr.split(',').filter((address) => address !== '')
  if (named.length > 0) return named
  const protocol = config.enableSsl ? 'ssl' : 'tcp'
  return config.ovnDbIps.map((ip) => `${protocol}:${ip.includes(':') ? `[${ip}]` : ip}:${config.nbPort}`)
}

/** Where the certificate for the databases is mounted. */
export const databaseTls: TlsFiles = {
  privateKeyFile: '/var/run/tls/key',
  certificateFile: '/var/run/tls/cert',
  caFile: '/var/run/tls/cacert',
}
