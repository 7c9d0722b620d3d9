import {
  ApiClient,
  claimLabName,
  clusterEvidence,
  createCluster,
  importImages,
  installChart,
  installDns,
  objectsEvidence,
  readProbeImage,
  removeLeftovers,
  takeSnapshot,
  type ChartValues,
  type Stack,
  type WantedTopology,
} from '@kube-ovn/lab'
import { leaveBundleIfThrows, type leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { givenKubeconfig, readStack } from './given-cluster.ts'
import { expectSame } from './suite-lab.ts'

/** A cluster with the product, as far as any cluster is alike. */
export interface SuiteCluster extends AsyncDisposable {
  readonly api: ApiClient
  readonly kubeconfig: string
  readonly stack: Stack
  /** Makes the image of the probe known to every node, and returns its name; of a given cluster, what KUBE_OVN_PROBE_IMAGE says it can get. */
  bringProbe(): Promise<string>
  /** What a test that fails leaves, for `leaveBundleOnFailure`; of a given cluster, its objects. */
  readonly evidence: Evidence
}

type Evidence = Parameters<typeof leaveBundleOnFailure>[0]

/** The name under which a given cluster can get the image of the probe. */
export const givenProbeImage: string | undefined = process.env['KUBE_OVN_PROBE_IMAGE'] || undefined

/**
 * The cluster that KUBECONFIG names, which stays, or else a lab with the chart, which goes when this is disposed of: then nothing may be
 * there that was not there before.
 *
 * @param values of the chart, for a lab
 */
export async function openSuiteCluster(
  lab: WantedTopology & { readonly id: string },
  values: ChartValues = {},
): Promise<SuiteCluster> {
  if (givenKubeconfig !== undefined) {
    const api = new ApiClient(givenKubeconfig)
    return {
      api,
      kubeconfig: givenKubeconfig,
      stack: await readStack(api),
      bringProbe: () => Promise.resolve(givenProbeImage ?? ''),
      evidence: objectsEvidence(api),
      [Symbol.asyncDispose]() {
        api[Symbol.dispose]()
        return Promise.resolve()
      },
    }
  }
  await removeLeftovers()
  await claimLabName(lab.id)
  const cluster = await createCluster(lab)
  await using made = new AsyncDisposableStack()
  made.use(cluster)
  await installChart(cluster, values)
  await installDns(cluster)
  const before = await takeSnapshot(cluster)
  const { api, kubeconfig, topology } = cluster
  const lifetime = made.move()
  return {
    api,
    kubeconfig,
    stack: topology.stack,
    async bringProbe() {
      const image = readProbeImage()
      await importImages(cluster, [image])
      return image
    },
    evidence: clusterEvidence(cluster),
    async [Symbol.asyncDispose]() {
      await using _ = lifetime
      await leaveBundleIfThrows(`${lab.id} leaks`, clusterEvidence(cluster), () =>
        expectSame(cluster, before),
      )
    },
  }
}
