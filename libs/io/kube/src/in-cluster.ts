import { urlHost } from '@kube-ovn/ip'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Authentication, ClusterAccess } from './cluster-access.ts'
import { KubeConfigError } from './errors.ts'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Kubelet replaces the token long before it expires; client-go reads it anew as often. */
const TOKEN_LIFETIME_MS = 60_000

/** Tells whether this process runs in a pod. */
export function isInCluster(): boolean {
  return (process.env['KUBERNETES_SERVICE_HOST'] ?? '') !== ''
}

/** Loads the access that kubelet gives to a pod through its service account. */
export async function inClusterAccess(directory = SERVICE_ACCOUNT): Promise<ClusterAccess> {
  const host = process.env['KUBERNETES_SERVICE_HOST'] ?? ''
  const port = process.env['KUBERNETES_SERVICE_PORT'] ?? '443'
  const token = fileToken(join(directory, 'token'))
  await token(true)
  return {
    server: `https://${urlHost(host)}:${port}`,
    ca: await readCredential(join(directory, 'ca.crt'), 'ca.crt'),
    tlsServerName: undefined,
    isVerified: true,
    authenticate: token,
  }
}

/**
 * Authenticates with a token file that somebody replaces from time to time. While it can not be read, the token that was read last is as good as it
 * was: a process without a descriptor left for a moment is not one without rights.
 */
export function fileToken(path: string): (renew: boolean) => Promise<Authentication> {
  let known: { readonly authorization: string; readonly readAtMs: number } | undefined
  return async (renew) => {
    const nowMs = performance.now()
    if (known === undefined || renew || nowMs - known.readAtMs > TOKEN_LIFETIME_MS) {
      try {
        const token = (await readCredential(path, 'token')).trim()
        known = { authorization: `Bearer ${token}`, readAtMs: nowMs }
      } catch (error) {
        if (known === undefined) throw error
      }
    }
    return { authorization: known.authorization }
  }
}

/** Reads a file that `field` names. */
export async function readCredential(path: string, field: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new KubeConfigError(
      'File with credentials cannot be read',
      { source: path, field, value: path, cure: 'mount the file, or give a kubeconfig' },
      { cause },
    )
  }
}
