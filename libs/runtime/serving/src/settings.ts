import { list, switchedOn, text, type ConfigOf } from '@kube-ovn/process'

/** Flags of each program that serves metrics. */
export const secureServingSettings = {
  secureServing: switchedOn(
    false,
    'Serve metrics and health checks by TLS, and metrics to those alone whom the API server lets read them.',
  ),
  tlsMinVersion: text('', 'Oldest version of TLS that is served, TLS10 to TLS13; empty for TLS12.'),
  tlsMaxVersion: text('', 'Newest version of TLS that is served; empty for TLS13.'),
  tlsCipherSuites: list('', 'Ciphers that are served, as IANA names them; empty for all good ones.'),
  tlsCertFile: text('', 'File with the certificate to serve with, PEM; empty for one that is made. New.'),
  tlsPrivateKeyFile: text('', 'File with its private key, PEM. New.'),
} as const

export type SecureServingConfig = ConfigOf<typeof secureServingSettings>
