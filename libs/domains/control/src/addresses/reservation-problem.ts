import { KubeOvnError, type Refused, type RetryClass } from '@kube-ovn/errors'
import type { Ip } from '@kube-ovn/kube-api'
import { podPortName } from '@kube-ovn/ovn-names'

/** An IP object that a user made can reserve nothing as it is written. */
export class ReservationInvalidError extends KubeOvnError<Refused> {
  readonly code = 'ip-reservation-invalid'
  readonly retry: RetryClass = 'on-change'

  constructor(details: ReservationInvalidError['details']) {
    super('the IP object reserves nothing', details)
  }
}

const podTypes: readonly string[] = ['', 'StatefulSet', 'VirtualMachine']

/** Finds what is wrong with an IP object that a user made, without a look at anything else. */
export function reservationProblem({ metadata: { name }, spec }: Ip): ReservationInvalidError | undefined {
  const { podName = '', namespace = '', subnet = '', podType = '' } = spec ?? {}
  const refuse = (field: string, value: string, cure: string) =>
    new ReservationInvalidError({ field, value, cure })
  if (podName === '')
    return refuse('spec.podName', '', 'name the Pod, or the machine, that is to have the addresses')
  if (namespace === '') return refuse('spec.namespace', '', 'give the namespace of the Pod')
  const port = podPortName(namespace, podName)
  if (name !== port && !name.startsWith(`${port}.`)) {
    const cure = `name it like the port: ${port}, followed by a dot and the provider in a further network`
    return refuse('metadata.name', name, cure)
  }
  if (subnet === '')
    return refuse('spec.subnet', '', 'name the Subnet that the addresses are to be taken from')
  return podTypes.includes(podType)
    ? undefined
    : refuse('spec.podType', podType, 'write StatefulSet or VirtualMachine, or leave it empty')
}
