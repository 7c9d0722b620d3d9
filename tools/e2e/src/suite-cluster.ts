import {
  ApiClient,
  clusterEvidence,
  findUnexplainedRows,
  importImages,
  objectsEvidence,
  readProbeImage,
  type Cluster,
  type Stack,
} from '@kube-ovn/lab'
import type { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { givenKubeconfig, readStack } from './given-cluster.ts'
import { chosenFor, closeReadyLab, openReadyLab, type NamedTopology, type Preparation } from './ready-lab.ts'

/** A cluster with the product, as far as any cluster is alike. */
export interface SuiteCluster extends AsyncDisposable {
  readonly api: ApiClient
  readonly kubeconfig: string
  readonly stack: Stack
  /** A lab, with what it alone has; a given cluster is none. */
  readonly lab?: Cluster
  /** Makes the image of the probe known to every node, and returns its name; of a given cluster, what KUBE_OVN_PROBE_IMAGE says it can get. */
  bringProbe(): Promise<string>
  /** What a test that fails leaves, for `leaveBundleOnFailure`; of a given cluster, its objects. */
  readonly evidence: Evidence
  /** Rows of the Northbound that go on to be of no object; of a given cluster they are not asked for. */
  unexplainedRows(): Promise<readonly string[]>
}

type Evidence = Parameters<typeof leaveBundleOnFailure>[0]

/** The name under which a given cluster can get the image of the probe. */
export const givenProbeImage: string | undefined = process.env['KUBE_OVN_PROBE_IMAGE'] || undefined

/**
 * The cluster that KUBECONFIG names, which stays, or else a lab with the chart: when this is disposed of nothing may be there that was not
 * there before, and the lab is free for others.
 *
 * @param preparation of a lab
 */
export async function openSuiteCluster(
  topology: NamedTopology,
  preparation: Preparation = {},
): Promise<SuiteCluster> {
  if (givenKubeconfig !== undefined) {
    const api = new ApiClient(givenKubeconfig)
    return {
      api,
      kubeconfig: givenKubeconfig,
      stack: await readStack(api),
      bringProbe: () => Promise.resolve(givenProbeImage ?? ''),
      evidence: objectsEvidence(api),
      unexplainedRows: () => Promise.resolve([]),
      [Symbol.asyncDispose]() {
        api[Symbol.dispose]()
        return Promise.resolve()
      },
    }
  }
  const wanted = chosenFor(topology)
  const ready = await openReadyLab(wanted, preparation)
  const { cluster } = ready
  const { api, kubeconfig } = cluster
  return {
    api,
    kubeconfig,
    stack: cluster.topology.stack,
    lab: cluster,
    async bringProbe() {
      const image = readProbeImage()
      await importImages(cluster, [{ name: image }])
      return image
    },
    evidence: clusterEvidence(cluster),
    unexplainedRows: () => findUnexplainedRows(cluster),
    [Symbol.asyncDispose]: () => closeReadyLab(wanted, preparation, ready, true),
  }
}
