import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { ipBytes, parseIp } from '@kube-ovn/ip'
import { bits, explicit, integer, octets, oid, sequence, setOf, tagged, time, utf8, yes } from './der.ts'

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface SelfSignedOptions {
  /** Names and addresses that it is good for. */
  readonly hosts: readonly string[]
  readonly from: Date
  readonly until: Date
}

const commonName = '2.5.4.3'
const ecdsaWithSha256 = '1.2.840.10045.4.3.2'
const [keyUsage, alternativeNames, basicConstraints, extendedKeyUsage] = [
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.19',
  '2.5.29.37',
]
const serverAuthentication = '1.3.6.1.5.5.7.3.1'

/** Makes a key, and a certificate of RFC 5280 for a server that it signs itself. */
export function selfSigned({ hosts, from, until }: SelfSignedOptions): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid(ecdsaWithSha256))
  const name = sequence(setOf(sequence(oid(commonName), utf8(hosts[0] ?? 'kube-ovn'))))
  const serial = randomBytes(16)
  // Positive, and not with a zero in front.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(
      3,
      sequence(
        extension(basicConstraints, sequence(), true),
        // Digital signatures.
        extension(keyUsage, bits(Buffer.from([0x80]), 7), true),
        extension(extendedKeyUsage, sequence(oid(serverAuthentication))),
        extension(alternativeNames, sequence(...hosts.map(alternativeName))),
      ),
    ),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, algorithm, bits(signature))
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [yes] : []), octets(value))
}

/** A dNSName or an iPAddress. */
function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? tagged(0x82, Buffer.from(host)) : tagged(0x87, ipBytes(parseIp(host)))
}
