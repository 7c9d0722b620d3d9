import { KubeOvnError, problemText } from '@kube-ovn/errors'
import {
  KubeConnectionError,
  KubeExecError,
  KubeForbiddenError,
  KubeNotFoundError,
  KubeUnauthorizedError,
  KubeUnavailableError,
} from '@kube-ovn/kube'
import { CommandFailedError } from './errors.ts'

/** Says in one sentence what went wrong, and what to do about it. */
export function describeError(error: unknown): string {
  if (error instanceof KubeForbiddenError)
    return `${error.details.answer || 'the API server forbids the request'}; ask for the ClusterRole kube-ovn-ko or kube-ovn-ko-reader of the chart, or name somebody who may with --as`
  if (error instanceof KubeUnauthorizedError)
    return 'the API server did not accept the credentials; renew them, or choose others with --context or --kubeconfig'
  if (error instanceof KubeConnectionError)
    return `the API server at ${error.details.endpoint} did not answer${reasonOf(error)}; see whether it runs, and whether --context and --kubeconfig name the right cluster`
  if (error instanceof KubeNotFoundError)
    return `${error.details.answer || `${error.details.path} is not there`}; see whether Kube-OVN is installed, and --system-namespace is its namespace`
  if (error instanceof KubeExecError)
    return `${error.details.command.split(' ', 1)[0] ?? ''} did not run in ${error.details.pod}: ${error.details.answer || 'the connection ended'}; see whether the pod runs, and try again`
  if (error instanceof KubeUnavailableError)
    return `${error.details.answer || 'the API server cannot answer now'}; see whether the node and its kubelet can be reached, and try again`
  if (error instanceof CommandFailedError) {
    const { command, pod, exitCode, answer, cure } = error.details
    return `${command} in ${pod} ended with ${exitCode}: ${answer}; ${cure}`
  }
  if (error instanceof KubeOvnError) return problemText(error as KubeOvnError)
  // What the system says of a file of the user's names it, and the cause.
  if (error instanceof Error && 'syscall' in error) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function reasonOf({ cause }: KubeConnectionError): string {
  return cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : ''
}
