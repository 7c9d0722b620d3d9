import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { TlsFileError, TlsHandshakeError } from './errors.ts'

/** PEM files for `ssl:` endpoints. Read anew for every connection, so that they may be renewed. */
export interface TlsFiles {
  readonly caFile: string
  readonly certificateFile: string
  readonly privateKeyFile: string
}

/** Reads the files. Throws {@link TlsFileError} with the file at fault. */
export async function loadTls(files: TlsFiles): Promise<SecureContext> {
  const [ca, cert, key] = await Promise.all([
    load(files.caFile, (pem) => new X509Certificate(pem), 'give a PEM file with certificates of authorities'),
    load(files.certificateFile, (pem) => new X509Certificate(pem), 'give a PEM file with a certificate'),
    load(files.privateKeyFile, createPrivateKey, 'give a PEM file with a private key and no password'),
  ])
  try {
    return createSecureContext({ ca, cert, key })
  } catch (cause) {
    throw new TlsFileError(
      files.privateKeyFile,
      `give the key of the certificate in ${files.certificateFile}`,
      cause,
    )
  }
}

async function load(file: string, check: (pem: Buffer) => unknown, cure: string): Promise<Buffer> {
  try {
    const pem = await readFile(file)
    check(pem)
    return pem
  } catch (cause) {
    throw new TlsFileError(file, cure, cause)
  }
}

/**
 * Says what a failure of a TLS connection means, when it is one of trust; else answers it as it is.
 *
 * With TLS 1.3 a server refuses our certificate only after the handshake, from our point of view: as if it had gone away.
 */
export function explainTls(endpoint: string, files: TlsFiles, error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  const fail = (problem: string, file: string | undefined, cure: string): TlsHandshakeError =>
    new TlsHandshakeError({ endpoint, problem, file, cure }, error)
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return fail(
      'the certificate of the server is not valid at this time',
      undefined,
      'renew it, or set the clock',
    )
  }
  if (untrusted.has(code)) {
    const cure = 'give the authority that signed the certificate of the server'
    return fail('the certificate of the server is of an unknown authority', files.caFile, cure)
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return fail('the server does not speak TLS', undefined, 'use tcp: for this endpoint')
  }
  if (alert.test(code)) {
    const cure = 'give a certificate that is valid and of the authority that the server trusts'
    return fail('the server refused the certificate of this client', files.certificateFile, cure)
  }
  return error
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])

/** Alerts of the server about a certificate (RFC 8446, section 6.2), as OpenSSL calls them. */
const alert = /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)/

/** The code of an error of Node or OpenSSL, or of what caused it. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { readonly code?: unknown }
  if (typeof code === 'string' && /^[A-Z_0-9]+$/.test(code)) return code
  return codeOf(error.cause)
}
