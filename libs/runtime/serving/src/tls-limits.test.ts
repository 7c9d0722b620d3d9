import { createSecureContext } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { tlsLimits } from './tls-limits.ts'

function limits(min: string, max: string, ...ciphers: readonly string[]) {
  return tlsLimits({ tlsMinVersion: min, tlsMaxVersion: max, tlsCipherSuites: ciphers })
}

describe('versions', () => {
  it.each([
    ['', '', 'TLSv1.2', 'TLSv1.3'],
    ['TLS13', '', 'TLSv1.3', 'TLSv1.3'],
    ['', 'TLS 1.1', 'TLSv1.1', 'TLSv1.1'],
    ['1.0', 'VersionTLS12', 'TLSv1', 'TLSv1.2'],
  ])('from %j to %j', (min, max, minVersion, maxVersion) => {
    expect(limits(min, max)).toEqual({ minVersion, maxVersion })
  })

  it.each([
    ['SSLv3', '', '--tls-min-version'],
    ['', 'TLS14', '--tls-max-version'],
    ['TLS13', 'TLS12', '--tls-min-version'],
  ])('from %j to %j are refused', (min, max, field) => {
    expect(() => limits(min, max)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    )
  })
})

describe('ciphers', () => {
  it('are called as OpenSSL calls them, and do not limit the other versions', () => {
    const names = ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA']
    expect(limits('', '', ...names).ciphers).toBe('TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-SHA')
    const older = limits('', '', 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256').ciphers
    expect(older).toMatch(/^TLS_AES_256_GCM_SHA384:.*:ECDHE-ECDSA-CHACHA20-POLY1305$/)
    for (const ciphers of [older, limits('', '', 'TLS_AES_128_GCM_SHA256').ciphers ?? ''])
      expect(() => createSecureContext({ ciphers: ciphers ?? '' })).not.toThrow()
  })

  it.each(['TLS_RSA_WITH_RC4_128_SHA', 'ECDHE-RSA-AES128-SHA', ''])('%j is refused', (name) => {
    expect(() => limits('', '', name)).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
