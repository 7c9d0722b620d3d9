import { hostname } from 'node:os'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { KubeClient } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { ConfigInvalidError, type Review, type SecureListener } from '@kube-ovn/process'
import { sleep, type Clock } from '@kube-ovn/time'
import { Certificates } from './certificates.ts'
import { Reviewer } from './reviewer.ts'
import type { SecureServingConfig } from './settings.ts'
import { tlsLimits } from './tls-limits.ts'

export interface SecureServingOptions {
  readonly config: SecureServingConfig
  /** Own addresses, for a certificate that is made. */
  readonly hosts: readonly string[]
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Pick<KubeClient, 'create'>
  readonly log: Logger
  readonly clock: Clock
  /** How often certificates are looked at; default 30 s. kubelet brings a changed Secret within a minute. */
  readonly lookEveryMs?: number
}

/** How metrics are served by TLS, until it is disposed of. */
interface SecureServing extends SecureListener, Disposable {}

const lookEveryDefaultMs = 30_000

/**
 * Prepares serving by TLS; `undefined` unless it is switched on.
 *
 * @throws ConfigInvalidError
 */
export async function openSecureServing(options: SecureServingOptions): Promise<SecureServing | undefined> {
  const { config, client, log, clock } = options
  if (!config.secureServing) return undefined
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = config
  if ((certFile === '') !== (keyFile === '')) {
    const [field, value] =
      certFile === '' ? ['--tls-cert-file', certFile] : ['--tls-private-key-file', keyFile]
    throw new ConfigInvalidError({ field, value, cure: 'give both files, or none' })
  }
  const limits = tlsLimits(config)
  const hosts = ['localhost', hostname(), '127.0.0.1', '::1', ...options.hosts]
  const certificates = new Certificates({ certFile, keyFile, hosts, clock, log })
  const reviewer = new Reviewer({ client, clock, log })
  const listeners = new Set<(context: SecureContextOptions) => void>()
  let context: SecureContextOptions = { ...(await certificates.current()), ...limits }
  // What the library refuses is to fail here, and not at the first client.
  createSecureContext(context)
  const stop = new AbortController()
  const look = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await sleep(clock, options.lookEveryMs ?? lookEveryDefaultMs, stop.signal)
      const { cert, key } = await certificates.current()
      if (cert === context.cert && key === context.key) continue
      context = { cert, key, ...limits }
      for (const listener of listeners) listener(context)
      log.info('certificate was renewed')
    }
  }
  look().catch((err: unknown) => {
    if (!stop.signal.aborted) log.error('certificates are no longer looked at', { err })
  })
  return {
    get context() {
      return context
    },
    onRenewed(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    review: (authorization: string | undefined, path: string): Promise<Review> =>
      reviewer.review(authorization, path),
    [Symbol.dispose]: () => stop.abort(),
  }
}
