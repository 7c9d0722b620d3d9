import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '@kube-ovn/testing-docker'

/** PEM files of an authority and of a certificate that it signed, good for both ends of a connection. */
export interface AuthorityFiles {
  readonly caFile: string
  readonly certificateFile: string
  readonly privateKeyFile: string
}

/**
 * Makes an authority, and a certificate that it signs. The files have the names that they have in the Secret of the chart.
 *
 * @param directory that is theirs alone; it is made
 */
export async function createAuthority(directory: string): Promise<AuthorityFiles> {
  await mkdir(directory, { recursive: true })
  const files = {
    caFile: join(directory, 'cacert'),
    certificateFile: join(directory, 'cert'),
    privateKeyFile: join(directory, 'key'),
  }
  const authorityKey = join(directory, 'authority-key')
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ]
  const authority = ['-subj', `/CN=test-${randomBytes(4).toString('hex')}`, '-keyout', authorityKey]
  await run(['openssl', ...request, ...authority, '-out', files.caFile])
  await run([
    ...(['openssl', ...request, '-CA', files.caFile, '-CAkey', authorityKey, '-subj', '/CN=ovn'] as const),
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-keyout', files.privateKeyFile, '-out', files.certificateFile],
  ])
  return files
}
