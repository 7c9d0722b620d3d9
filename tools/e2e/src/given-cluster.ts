import { KubeOvnError } from '@kube-ovn/errors'
import { ApiClient, ApiError, describeError, type ApiObject, type Stack } from '@kube-ovn/lab'

/** The kubeconfig of a cluster on which the suites run, in place of labs that they make. */
export const givenKubeconfig: string | undefined = process.env['KUBECONFIG'] || undefined

interface SubnetObject extends ApiObject {
  readonly spec: { readonly protocol?: string }
}

/**
 * Tells which families the pods of a cluster have, by its default Subnet.
 *
 * @throws {ApiError} with status 404 if our chart is not installed there
 */
export async function readStack(api: ApiClient): Promise<Stack> {
  const subnet = await api.call<SubnetObject>('GET', '/apis/kubeovn.io/v1/subnets/ovn-default')
  switch (subnet.spec.protocol) {
    case 'Dual':
      return 'dual'
    case 'IPv6':
      return 'ipv6'
    default:
      return 'ipv4'
  }
}

/** Ends the run before the first suite, in one sentence, if the given cluster can not be used. */
export async function setup(): Promise<void> {
  if (givenKubeconfig === undefined) return
  try {
    using api = new ApiClient(givenKubeconfig)
    console.log(`suites run on the cluster of ${givenKubeconfig}, ${await readStack(api)}`)
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    process.stderr.write(`\n${describeUnusable(error as KubeOvnError)}`)
    // Thrown, it would be a stack, below the news that there are no tests.
    process.exit(1)
  }
}

/** What is wrong with the given cluster, and what to do. */
function describeUnusable(error: KubeOvnError): string {
  if (!(error instanceof ApiError)) return describeError(error)
  if (error.details.status === 404)
    return `the cluster of KUBECONFIG has no default Subnet: ${givenKubeconfig}\n→ install the chart helm/kube-ovn there, or unset KUBECONFIG to run on labs\n`
  const cure =
    error.details.status === 0
      ? `start that cluster, or correct ${givenKubeconfig}, or unset KUBECONFIG to run on labs`
      : `give ${givenKubeconfig} a user who may do everything`
  return `${describeError(error)}→ ${cure}\n`
}
