import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ClusterAccess } from './cluster-access.ts'
import { inClusterAccess, isInCluster } from './in-cluster.ts'
import { loadKubeconfig } from './kubeconfig.ts'

/**
 * Finds the way into the cluster as Kubernetes components do: the file that the `--kubeconfig` flag names, else the
 * service account of the pod, else `$KUBECONFIG`, else `~/.kube/config`.
 *
 * @param context of a kubeconfig, in place of its current one
 * @throws KubeConfigError when none is there or what is there cannot be used
 */
export async function loadAccess(kubeconfig?: string, context?: string): Promise<ClusterAccess> {
  if (kubeconfig !== undefined && kubeconfig !== '') return loadKubeconfig(kubeconfig, context)
  if (isInCluster() && context === undefined) return inClusterAccess()
  const fromEnvironment = process.env['KUBECONFIG']
    ?.split(':')
    .find((path) => path !== '' && existsSync(path))
  return loadKubeconfig(fromEnvironment ?? join(homedir(), '.kube', 'config'), context)
}
