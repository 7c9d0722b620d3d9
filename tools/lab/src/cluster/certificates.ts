import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../program.ts'
import { multusUser } from './multus.ts'

/** A certificate to be issued by the cluster's authority. */
interface CertificateRequest {
  /** File name without suffix. */
  readonly name: string
  readonly user: string
  readonly group?: string
  /** Host names and addresses it serves under. */
  readonly servesAs?: readonly string[]
}

/** What the control plane and the nodes identify themselves with. */
export interface ClusterIdentities {
  readonly apiServerNames: readonly string[]
  readonly nodes: readonly NodeIdentity[]
}

/** A node and what kubelet serves under. */
interface NodeIdentity {
  readonly name: string
  readonly addresses: readonly string[]
}

/**
 * Writes the certificates of a cluster into `directory`: an authority `ca`, one pair for each component and node, and the key
 * pair that signs the tokens of service accounts (`sa.key`, `sa.pub`).
 */
export async function writeCertificates(directory: string, identities: ClusterIdentities): Promise<void> {
  mkdirSync(directory, { recursive: true })
  writeServiceAccountKeys(directory)
  const authority = ['-keyout', join(directory, 'ca.key'), '-out', join(directory, 'ca.crt')]
  await runProgram('openssl', [...newKey, '-subj', '/CN=kube-ovn-lab', '-days', '3650', ...authority])
  await Promise.all(requestsOf(identities).map((request) => issueCertificate(directory, request)))
}

/** Writes the pair of one node, new or under other addresses, signed by the authority that `directory` has. */
export function writeNodeCertificate(directory: string, node: NodeIdentity): Promise<void> {
  return issueCertificate(directory, nodeRequest(node))
}

/** Writes the pair `name` of a Service in a pod, signed by the authority that `directory` has. */
export function writeServiceCertificate(
  directory: string,
  { name, namespace = 'default' }: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  const host = `${name}.${namespace}.svc`
  return issueCertificate(directory, { name, user: host, servesAs: [host] })
}

const newKey = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

function requestsOf(identities: ClusterIdentities): CertificateRequest[] {
  return [
    { name: 'apiserver', user: 'kube-apiserver', servesAs: identities.apiServerNames },
    { name: 'apiserver-kubelet', user: 'kube-apiserver-kubelet', group: 'system:masters' },
    { name: 'front-proxy', user: 'front-proxy' },
    { name: 'admin', user: 'admin', group: 'system:masters' },
    { name: 'controller-manager', user: 'system:kube-controller-manager' },
    { name: 'scheduler', user: 'system:kube-scheduler' },
    { name: 'kube-proxy', user: 'system:kube-proxy' },
    { name: multusUser, user: multusUser },
    ...identities.nodes.map(nodeRequest),
  ]
}

function nodeRequest({ name, addresses }: NodeIdentity): CertificateRequest {
  return { name, user: `system:node:${name}`, group: 'system:nodes', servesAs: [name, ...addresses] }
}

async function issueCertificate(directory: string, request: CertificateRequest): Promise<void> {
  const names = (request.servesAs ?? []).map((name) =>
    /^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`,
  )
  await runProgram('openssl', [
    ...newKey,
    ...['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key'), '-days', '3650'],
    ...['-subj', `${request.group === undefined ? '' : `/O=${request.group}`}/CN=${request.user}`],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-addext', 'extendedKeyUsage=clientAuth,serverAuth'],
    ...(names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`]),
    ...['-keyout', join(directory, `${request.name}.key`), '-out', join(directory, `${request.name}.crt`)],
  ])
}

function writeServiceAccountKeys(directory: string): void {
  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  })
  writeFileSync(join(directory, 'sa.pub'), keys.publicKey)
  writeFileSync(join(directory, 'sa.key'), keys.privateKey, { mode: 0o600 })
}
