import { addressRequestKeys } from '@kube-ovn/annotations'
import { cronJobs, type CronJob, type Workload } from '@kube-ovn/kube-api/core'

type Annotations = Readonly<Record<string, string>>

/** Finds annotations of a workload that ask for addresses and that its pods do not get: its template lacks them. */
export function misplacedRequests({ metadata, spec }: Workload): Annotations {
  // A Job has the annotations that its CronJob gives it: they are told of there, once for all Jobs.
  const isOfCronJob = metadata.ownerReferences?.some(({ kind }) => kind === cronJobs.kind) === true
  return isOfCronJob ? {} : requestsBeside(spec?.template?.metadata?.annotations, metadata.annotations)
}

/** As {@link misplacedRequests}, of a CronJob and of the Jobs that it makes. */
export function misplacedRequestsOfJobs({ metadata, spec }: CronJob): Annotations {
  const { metadata: ofJobs, spec: job } = spec?.jobTemplate ?? {}
  return requestsBeside(job?.template?.metadata?.annotations, {
    ...ofJobs?.annotations,
    ...metadata.annotations,
  })
}

function requestsBeside(template: Annotations = {}, annotations: Annotations = {}): Annotations {
  return Object.fromEntries(
    addressRequestKeys().flatMap((key) => {
      const value = annotations[key]
      return value === undefined || template[key] !== undefined ? [] : [[key, value]]
    }),
  )
}
