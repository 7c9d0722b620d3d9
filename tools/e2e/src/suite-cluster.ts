import {
  ApiClient,
  claimLabName,
  createCluster,
  importImages,
  installChart,
  installDns,
  readProbeImage,
  removeLeftovers,
  type Stack,
  type WantedTopology,
} from '@kube-ovn/lab'
import { givenKubeconfig, readStack } from './given-cluster.ts'

/** A cluster with the product, as far as any cluster is alike. */
export interface SuiteCluster extends AsyncDisposable {
  readonly api: ApiClient
  readonly kubeconfig: string
  readonly stack: Stack
  /** Makes the image of the probe known to every node, and returns its name; of a given cluster, what KUBE_OVN_PROBE_IMAGE says it can get. */
  bringProbe(): Promise<string>
}

/** The name under which a given cluster can get the image of the probe. */
export const givenProbeImage: string | undefined = process.env['KUBE_OVN_PROBE_IMAGE'] || undefined

/** The cluster that KUBECONFIG names, which stays, or else a lab with the chart, which goes when this is disposed of. */
export async function openSuiteCluster(lab: WantedTopology & { readonly id: string }): Promise<SuiteCluster> {
  if (givenKubeconfig !== undefined) {
    const api = new ApiClient(givenKubeconfig)
    return {
      api,
      kubeconfig: givenKubeconfig,
      stack: await readStack(api),
      bringProbe: () => Promise.resolve(givenProbeImage ?? ''),
      [Symbol.asyncDispose]() {
        api[Symbol.dispose]()
        return Promise.resolve()
      },
    }
  }
  await removeLeftovers()
  await claimLabName(lab.id)
  const cluster = await createCluster(lab)
  try {
    await installChart(cluster)
    await installDns(cluster)
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
  const { api, kubeconfig, topology } = cluster
  return {
    api,
    kubeconfig,
    stack: topology.stack,
    async bringProbe() {
      const image = readProbeImage()
      await importImages(cluster, [image])
      return image
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}
