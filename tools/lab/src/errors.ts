import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'

/** The Docker engine refused or could not do what it was asked. */
export class DockerError extends KubeOvnError<{
  method: string
  path: string
  status: number
  reason: string
}> {
  readonly code = 'lab-docker'
  readonly retry: RetryClass = 'never'
}

/** A program ended with something else than 0. */
export class ProgramError extends KubeOvnError<{
  command: string
  exitCode: number | string
  output: string
}> {
  readonly code = 'lab-program'
  readonly retry: RetryClass = 'never'
}

/** The API server of the lab answered with an error. */
export class ApiError extends KubeOvnError<{ method: string; path: string; status: number; reason: string }> {
  readonly code = 'lab-api'
  readonly retry: RetryClass = 'never'
}

/** Something that should have happened did not, in the time given to it. */
export class LabTimeoutError extends KubeOvnError<{ what: string; timeoutMs: number; seen: string }> {
  readonly code = 'lab-timeout'
  readonly retry: RetryClass = 'never'
}

/** A lab of that name is there already and is not ours to remove. */
export class LabExistsError extends KubeOvnError<{ id: string; cure: string }> {
  readonly code = 'lab-exists'
  readonly retry: RetryClass = 'never'
}

/** The command line asks for something that does not exist. */
export class LabUsageError extends KubeOvnError<{ argument: string; cure: string }> {
  readonly code = 'lab-usage'
  readonly retry: RetryClass = 'never'
}

/** A declared connectivity matrix is not understood, or what it names is not there. */
export class MatrixError extends KubeOvnError<Refused> {
  readonly code = 'lab-matrix'
  readonly retry: RetryClass = 'never'
}

/** A description of a topology says something that can not be. */
export class TopologyError extends KubeOvnError<Refused> {
  readonly code = 'lab-topology'
  readonly retry: RetryClass = 'never'
}

/** This machine lacks something that every lab needs. */
export class LabMachineError extends KubeOvnError<{ what: string; cure: string }> {
  readonly code = 'lab-machine'
  readonly retry: RetryClass = 'never'
}

/** A pod between which and others packets are counted was deleted, evicted or replaced meanwhile: what was lost says nothing. */
export class WatchedPodGoneError extends KubeOvnError<{ pods: string; cure: string }> {
  readonly code = 'lab-watched-pod-gone'
  readonly retry: RetryClass = 'never'
}

/** Something is broken in just this way already. */
export class FaultStandsError extends KubeOvnError<{ fault: string; cure: string }> {
  readonly code = 'lab-fault-stands'
  readonly retry: RetryClass = 'never'
}

/** A kubeconfig is missing, or says not enough to reach a cluster. */
export class KubeconfigError extends KubeOvnError<{ path: string; cure: string }> {
  readonly code = 'lab-kubeconfig'
  readonly retry: RetryClass = 'never'
}
