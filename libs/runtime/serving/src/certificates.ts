import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import { selfSigned, type KeyPair } from './self-signed.ts'

export interface CertificateOptions {
  /** Empty: one is made. */
  readonly certFile: string
  readonly keyFile: string
  /** Names and addresses of one that is made. */
  readonly hosts: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

const dayMs = 24 * 3600 * 1000
const madeForMs = 365 * dayMs
const renewedBeforeMs = 30 * dayMs
/** Clocks of others may be behind. */
const madeBeforeMs = 3600 * 1000

/**
 * What a server proves itself with: files, as long as they are a pair, or else a certificate that is made and lives in memory.
 *
 * Files that are no good do not keep a process from its work: nobody who trusts their authority takes the one that is made instead, and a
 * line says what to do.
 */
export class Certificates {
  readonly #options: CertificateOptions
  #made: { readonly pair: KeyPair; readonly untilMs: number } | undefined
  #given: KeyPair | undefined
  /** Last told, so that each is told once. */
  #problem: string | undefined

  constructor(options: CertificateOptions) {
    this.#options = options
  }

  /** Reads files again, and answers what to serve with. */
  async current(): Promise<KeyPair> {
    const { certFile, keyFile } = this.#options
    if (certFile === '' && keyFile === '') return this.#madeOne()
    try {
      const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
      if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
        throw new Error('the key is not that of the certificate')
      // It reads the whole chain, and has an opinion on keys: what it refuses would be refused when clients are to be served with it.
      createSecureContext({ cert, key })
      if (this.#problem !== undefined) this.#options.log.info('certificate files are good again')
      this.#problem = undefined
      this.#given = { cert, key }
    } catch (err) {
      this.#tell(err)
    }
    // Half of a pair may have been replaced: the one before is good meanwhile.
    return this.#given ?? this.#madeOne()
  }

  #tell(err: unknown): void {
    const problem = err instanceof Error ? err.message : String(err)
    if (problem === this.#problem) return
    this.#problem = problem
    this.#options.log.error('certificate files are no good', {
      certFile: this.#options.certFile,
      keyFile: this.#options.keyFile,
      served: this.#given === undefined ? 'a certificate that was made' : 'the one before',
      cure: 'give a certificate and its private key as PEM texts',
      err,
    })
  }

  #madeOne(): KeyPair {
    const nowMs = this.#options.clock.now()
    if (this.#made === undefined || this.#made.untilMs - nowMs < renewedBeforeMs) {
      const untilMs = nowMs + madeForMs
      const dates = { from: new Date(nowMs - madeBeforeMs), until: new Date(untilMs) }
      this.#made = { pair: selfSigned({ hosts: this.#options.hosts, ...dates }), untilMs }
    }
    return this.#made.pair
  }
}
