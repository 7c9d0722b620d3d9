import type { TlsFiles } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'

/** Where the certificate for the databases is mounted. */
const tls: TlsFiles = {
  privateKeyFile: '/var/run/tls/key',
  certificateFile: '/var/run/tls/cert',
  caFile: '/var/run/tls/cacert',
}

/** How servers of a database are spoken to: the one that leads. */
export function databaseOptions(config: ControllerConfig, endpoints: readonly string[]) {
  return {
    endpoints,
    leaderOnly: true,
    connectTimeoutMs: config.ovsdbConTimeout * 1000,
    inactivityProbeMs: config.ovsdbInactivityTimeout * 1000,
    transactTimeoutMs: config.ovnTimeout * 1000,
    ...(endpoints.some((endpoint) => endpoint.startsWith('ssl:')) ? { tls } : {}),
  }
}
