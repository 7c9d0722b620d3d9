import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { inClusterAccess, isInCluster } from './in-cluster.ts'
import { loadKubeconfig } from './kubeconfig.ts'

/** Where an API server is, whom to trust there, and who we are. */
export interface ClusterAccess {
  /** `https://host:port`, with a path if the server is behind a prefix. */
  readonly server: string
  /** Certificates to trust, PEM; without it those of the system. */
  readonly ca: string | undefined
  /** Name that the server's certificate must carry when it is not the host of `server`. */
  readonly tlsServerName: string | undefined
  /** False only where a kubeconfig says `insecure-skip-tls-verify`. */
  readonly isVerified: boolean
  /**
   * Yields the present credentials. It is asked before each request, so it answers from memory when it can.
   *
   * `renew` says that the server has just refused what was given before.
   */
  authenticate(renew: boolean): Promise<Authentication>
}

export interface Authentication {
  /** Value of the Authorization header. */
  readonly authorization?: string
  /** Client certificate and key, PEM. */
  readonly certificate?: string
  readonly privateKey?: string
}

/**
 * Finds the way into the cluster as Kubernetes components do: the file that the `--kubeconfig` flag names, else the
 * service account of the pod, else `$KUBECONFIG`, else `~/.kube/config`.
 *
 * @throws KubeConfigError when none is there or what is there cannot be used
 */
export async function loadAccess(kubeconfig?: string): Promise<ClusterAccess> {
  if (kubeconfig !== undefined && kubeconfig !== '') return loadKubeconfig(kubeconfig)
  if (isInCluster()) return inClusterAccess()
  const fromEnvironment = process.env['KUBECONFIG']
    ?.split(':')
    .find((path) => path !== '' && existsSync(path))
  return loadKubeconfig(fromEnvironment ?? join(homedir(), '.kube', 'config'))
}
