import { constants } from 'node:crypto'
import type { SecureContextOptions, SecureVersion } from 'node:tls'
import { ConfigInvalidError } from '@kube-ovn/process'
import type { SecureServingConfig } from './settings.ts'

const versions: readonly SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']
const newest = versions.length - 1
const tls12 = 2

const suitesOfTls13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']

/**
 * Versions and ciphers as Node wants them, read as those of the databases are (tls-limits.sh): ciphers of TLS 1.3 do not limit older
 * versions, nor the other way round.
 *
 * @throws ConfigInvalidError
 */
export function tlsLimits(
  config: Pick<SecureServingConfig, 'tlsMinVersion' | 'tlsMaxVersion' | 'tlsCipherSuites'>,
): SecureContextOptions {
  const max = placeOf('--tls-max-version', config.tlsMaxVersion) ?? newest
  const min = placeOf('--tls-min-version', config.tlsMinVersion) ?? Math.min(max, tls12)
  if (min > max) {
    const value = `${config.tlsMinVersion}, above ${config.tlsMaxVersion}`
    throw new ConfigInvalidError({ field: '--tls-min-version', value, cure: 'exchange the two versions' })
  }
  const names = config.tlsCipherSuites
  const ofTls13 = names.filter((name) => suitesOfTls13.includes(name))
  const older = names.filter((name) => !suitesOfTls13.includes(name)).map(opensslCipher)
  const ciphers =
    names.length === 0
      ? undefined
      : [
          ...(ofTls13.length > 0 ? ofTls13 : suitesOfTls13),
          ...(older.length > 0 ? older : [constants.defaultCipherList]),
        ].join(':')
  return {
    minVersion: versions[min] ?? 'TLSv1.2',
    maxVersion: versions[max] ?? 'TLSv1.3',
    ...(ciphers === undefined ? {} : { ciphers }),
  }
}

function placeOf(field: string, value: string): number | undefined {
  if (value === '') return undefined
  const place = /^(?:(?:Version)?TLS ?)?1\.?([0-3])$/.exec(value)?.[1]
  if (place !== undefined) return Number(place)
  throw new ConfigInvalidError({ field, value, cure: 'write TLS10, TLS11, TLS12 or TLS13' })
}

/** What OpenSSL calls a cipher up to TLS 1.2. */
function opensslCipher(name: string): string {
  const [, key, cipher = ''] =
    /^TLS_ECDHE_(ECDSA|RSA)_WITH_(AES_(?:128|256)_CBC_SHA|AES_128_GCM_SHA256|AES_256_GCM_SHA384|CHACHA20_POLY1305(?:_SHA256)?)$/.exec(
      name,
    ) ?? []
  if (key === undefined) {
    const cure = 'take it out: docs/user/tls.md lists those that are served'
    throw new ConfigInvalidError({ field: '--tls-cipher-suites', value: name, cure })
  }
  const short = cipher
    .replace('POLY1305_SHA256', 'POLY1305')
    .replace('_CBC', '')
    .replace(/^AES_/, 'AES')
    .replaceAll('_', '-')
  return `ECDHE-${key}-${short}`
}
